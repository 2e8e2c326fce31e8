/// A state that shows another one in its own way, as ``DefaultOperationState`` does.
///
/// What was attached to the operation beneath (handlers, rules, controllers) goes on seeing the base.
public protocol LayeredOperationState<Base>: OperationState, Sendable
where OperationValue == Base.OperationValue, Failure == Base.Failure {
  /// The state beneath.
  associatedtype Base: OperationState & Sendable

  /// The state beneath.
  var base: Base { get set }
}

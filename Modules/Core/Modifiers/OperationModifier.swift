/// Adds behaviour to an operation: before it, after it, around it, or to its context.
///
/// ```swift
/// struct Logged<Operation: OperationRequest>: OperationModifier {
///   func run(
///     isolation: isolated (any Actor)?,
///     in context: OperationContext,
///     using operation: Operation,
///     with continuation: OperationContinuation<Operation.Value, Operation.Failure>
///   ) async throws(Operation.Failure) -> Operation.Value {
///     log("begins")
///     defer { log("ends") }
///     return try await operation.run(isolation: isolation, in: context, with: continuation)
///   }
/// }
/// ```
///
/// The modifier that is applied later is the outer one. A modifier that keeps the value and failure types keeps a query a
/// query.
public protocol OperationModifier<Operation, Value, Failure>: Sendable {
  /// The operation that is modified.
  associatedtype Operation: OperationRequest

  /// What the modified operation produces.
  associatedtype Value = Operation.Value

  /// What the modified operation can throw.
  associatedtype Failure: Error = Operation.Failure

  /// Writes configuration to the context, once, when a store or runner is made for the operation.
  ///
  /// Implementations call `operation.setup(context:)`: after their own writes where the operation nearer to the work is to
  /// have its way, which is the convention. The default only calls it.
  func setup(context: inout OperationContext, using operation: Operation)

  /// Runs the operation in the modified way.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value
}

extension OperationModifier {
  @inlinable
  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
  }
}

extension OperationRequest {
  /// This operation with a modifier around it.
  @inlinable
  public func modifier<Modifier: OperationModifier>(
    _ modifier: Modifier
  ) -> ModifiedOperation<Self, Modifier> where Modifier.Operation == Self {
    ModifiedOperation(operation: self, modifier: modifier)
  }
}

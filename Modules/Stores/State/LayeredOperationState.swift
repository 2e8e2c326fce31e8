/// A state that wraps another one, as ``DefaultOperationState`` does.
///
/// Handlers, staleness rules and controllers that are attached to the inner operation still receive the base state.
public protocol LayeredOperationState<Base>: OperationState, Sendable
where OperationValue == Base.OperationValue, Failure == Base.Failure {
  /// The type of the wrapped state.
  associatedtype Base: OperationState & Sendable

  /// The wrapped state.
  var base: Base { get set }
}

extension LayeredOperationState {
  public var isPaused: Bool { self.base.isPaused }

  public var attempt: OperationAttempt? { self.base.attempt }

  public mutating func updateFetchTask(_ task: OperationTask<OperationValue, Failure>) {
    self.base.updateFetchTask(task)
  }
}

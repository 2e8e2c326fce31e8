public import OperationCore

/// Closures that hear of what happens in the store of a mutation: `OperationEventHandler` in the words of a mutation.
public struct MutationEventHandler<State: MutationStateProtocol & Sendable>: Sendable {
  /// Called with the state now and after each change of it.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called with the arguments of a call when it begins its work.
  public var onMutatingStarted: (@Sendable (State.Arguments, OperationContext) -> Void)?

  /// Called with the arguments of a call and each result that it yields or returns.
  /// `operationResultUpdateReason` tells which. A cancelled call has no result.
  public var onMutationResultReceived:
    (@Sendable (State.Arguments, Result<State.OperationValue, State.Failure>, OperationContext) -> Void)?

  /// Called with the arguments of a call when it has ended, however it ended.
  public var onMutatingEnded: (@Sendable (State.Arguments, OperationContext) -> Void)?

  /// Creates a handler.
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onMutatingStarted: (@Sendable (State.Arguments, OperationContext) -> Void)? = nil,
    onMutationResultReceived:
      (@Sendable (State.Arguments, Result<State.OperationValue, State.Failure>, OperationContext) -> Void)? = nil,
    onMutatingEnded: (@Sendable (State.Arguments, OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onMutatingStarted = onMutatingStarted
    self.onMutationResultReceived = onMutationResultReceived
    self.onMutatingEnded = onMutatingEnded
  }
}

extension OperationEventHandler where State: MutationStateProtocol {
  init(_ handler: MutationEventHandler<State>) {
    self.init(onStateChanged: handler.onStateChanged)
    if let onStarted = handler.onMutatingStarted {
      self.onRunStarted = { context in
        // Misused, a mutation may be run without arguments.
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onStarted(arguments, context) }
      }
    }
    if let onResult = handler.onMutationResultReceived {
      self.onResultReceived = { result, context in
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onResult(arguments, result, context) }
      }
    }
    if let onEnded = handler.onMutatingEnded {
      self.onRunEnded = { context in
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onEnded(arguments, context) }
      }
    }
  }
}

extension OperationStore where State: MutationStateProtocol {
  /// Hears of everything that happens in the store until the subscription is cancelled or dropped.
  ///
  /// The handler gets the state at once. The subscription does not keep the store alive.
  public func subscribe(
    with handler: MutationEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
  }
}

extension StatefulOperationRequest where State: MutationStateProtocol {
  /// Tells `handler` of all events in the stores of the mutation.
  public func handleEvents(with handler: MutationEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.handleEvents(with: OperationEventHandler(handler))
  }
}

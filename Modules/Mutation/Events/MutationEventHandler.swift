public import OperationCore

/// Closures that receive the events in the store of a mutation, with the arguments of the calls.
///
/// They are called as an `OperationEventHandler`'s are: one at a time, in event order, never with a lock held.
public struct MutationEventHandler<State: MutationStateProtocol & Sendable>: Sendable {
  /// Called with the current state at first, and after each state change.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called with the arguments of a call when it begins its work.
  public var onMutatingStarted: (@Sendable (State.Arguments, OperationContext) -> Void)?

  /// Called with the arguments of a call and each result that it yields or returns.
  ///
  /// `operationResultUpdateReason` of the context says which. A cancelled call has no result.
  public var onMutationResultReceived:
    (@Sendable (State.Arguments, Result<State.OperationValue, State.Failure>, OperationContext) -> Void)?

  /// Called with the arguments of a call when it has ended: with a value, with an error, or by cancellation.
  public var onMutatingEnded: (@Sendable (State.Arguments, OperationContext) -> Void)?

  /// Called with the arguments of a call when one of its attempts has failed and another one follows.
  ///
  /// The attempt has the error and the date of the next one. The failure of the last attempt is the result of the call.
  public var onAttemptFailed: (@Sendable (State.Arguments, OperationAttempt, OperationContext) -> Void)?

  /// Called once when the client no longer has the store, or when the store no longer exists.
  ///
  /// The store was removed with a call such as `clearStores(matching:)`, or its last reference was
  /// released. A run that only subscribers waited for has been cancelled, so that the last state is not loading.
  public var onStoreRemoved: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onMutatingStarted: (@Sendable (State.Arguments, OperationContext) -> Void)? = nil,
    onMutationResultReceived:
      (@Sendable (State.Arguments, Result<State.OperationValue, State.Failure>, OperationContext) -> Void)? = nil,
    onMutatingEnded: (@Sendable (State.Arguments, OperationContext) -> Void)? = nil,
    onAttemptFailed: (@Sendable (State.Arguments, OperationAttempt, OperationContext) -> Void)? = nil,
    onStoreRemoved: (@Sendable (OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onMutatingStarted = onMutatingStarted
    self.onMutationResultReceived = onMutationResultReceived
    self.onMutatingEnded = onMutatingEnded
    self.onAttemptFailed = onAttemptFailed
    self.onStoreRemoved = onStoreRemoved
  }
}

extension OperationEventHandler where State: MutationStateProtocol {
  init(_ handler: MutationEventHandler<State>) {
    self.init(onStateChanged: handler.onStateChanged, onStoreRemoved: handler.onStoreRemoved)
    if let onStarted = handler.onMutatingStarted {
      self.onRunStarted = { context in
        // Nil when a mutation is run without arguments, which is reported elsewhere.
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onStarted(arguments, context) }
      }
    }
    if let onResult = handler.onMutationResultReceived {
      self.onResultReceived = { result, context in
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onResult(arguments, result, context) }
      }
    }
    if let onFailed = handler.onAttemptFailed {
      self.onAttemptFailed = { attempt, context in
        if let arguments = context.mutationArguments(as: State.Arguments.self) { onFailed(arguments, attempt, context) }
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
  /// Subscribes a handler to all events of the store.
  ///
  /// The handler receives the state at once. The subscription does not retain the store.
  ///
  /// - Parameters:
  ///   - handler: Called in event order, never with a lock held.
  ///   - isolation: The caller's actor.
  /// - Returns: A subscription whose cancellation or release ends the calls of the handler.
  public func subscribe(
    with handler: MutationEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
  }
}

extension StatefulOperationRequest where State: MutationStateProtocol {
  /// Passes all events in the stores of the mutation to a handler.
  ///
  /// - Parameter handler: Called in event order, never with a lock held.
  /// - Returns: The mutation, whose stores call the handler.
  public func handleEvents(with handler: MutationEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.handleEvents(with: OperationEventHandler(handler))
  }
}

/// What a controller can do with the store that it controls.
///
/// Controls do not keep the store alive; once it is gone they change nothing that anybody sees.
public struct OperationControls<State: OperationState & Sendable>: Sendable {
  private let backend: any ControlBackend<State>

  init(backend: some ControlBackend<State>) {
    self.backend = backend
  }
}

extension OperationControls {
  /// The path of the operation.
  public var path: OperationPath { self.backend.path }

  /// The context of the store.
  public var context: OperationContext { self.backend.context }

  /// The state of the store.
  public var state: State { self.backend.state }

  /// Whether the value should be fetched again.
  public var isStale: Bool { self.backend.isStale }

  /// How many subscribers the store has.
  public var subscriberCount: Int { self.backend.subscriberCount }

  /// Whether a rerun would be carried out: automatic running is not disabled, and its specification holds.
  ///
  /// It is true without subscribers as well. A controller that works for them asks ``subscriberCount``.
  public var canYieldRerun: Bool { self.backend.canYieldRerun }
}

extension OperationControls {
  /// Sets the value of the store.
  public func yield(_ value: State.StateValue, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Sets the error of the store.
  public func yield(throwing error: State.Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Sets the value or the error of the store.
  public func yield(with result: Result<State.StateValue, State.Failure>, using context: OperationContext? = nil) {
    let isSuccess = if case .success = result { true } else { false }
    self.backend.set(isSuccess: isSuccess, using: context) { state, context in
      state.update(with: result, using: context)
    }
  }

  /// Puts the store back to its initial state and cancels its runs.
  public func yieldResetState(using context: OperationContext? = nil) {
    self.backend.reset(using: context)
  }
}

extension OperationControls {
  /// Runs the operation again; nil, and nothing, when ``canYieldRerun`` is false.
  ///
  /// The subscribers of the store, if there are any, keep the run alive together with the caller.
  @discardableResult
  public func yieldRerun(
    with context: OperationContext? = nil
  ) async throws(State.Failure) -> State.OperationValue? {
    guard let task = self.yieldRerunTask(with: context) else { return nil }
    return try await task.runIfNeeded()
  }

  /// A task that runs the operation again; nil when ``canYieldRerun`` is false.
  public func yieldRerunTask(
    with context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure>? {
    self.canYieldRerun ? self.backend.makeRerunTask(using: context) : nil
  }

  /// Runs the operation again for the subscribers, unless a run is there, and does not wait for it. Does nothing without
  /// subscribers, or when ``canYieldRerun`` is false.
  public func rerunForSubscribers() {
    if self.canYieldRerun { self.backend.runForSubscribers() }
  }

  /// Runs the operation again for the subscribers, as something that it needs has come to hold, and does not wait for it.
  /// Does nothing without subscribers, or when ``canYieldRerun`` or ``isStale`` is false.
  ///
  /// A run that is there began too early to be sure of success. Where it fails, the operation is run once more, if
  /// ``canYieldRerun`` and ``isStale`` are true by then.
  public func rerunForSubscribersSinceChange() {
    self.backend.rerunSinceChange()
  }

  /// Calls `observer` when the first subscriber has come or the last one has left, until the subscription is cancelled.
  ///
  /// It may be called for other reasons too: look at ``subscriberCount``.
  public func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.backend.observeActivity(observer)
  }

  /// Keeps every other thread out of the store while `body` runs. It can be nested.
  public func withExclusiveAccess<R, E: Error>(_ body: (OperationControls) throws(E) -> R) throws(E) -> R {
    try self.backend.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }
}

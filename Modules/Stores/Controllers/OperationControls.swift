package import OperationFoundation

/// Gives a controller access to the store that it controls.
///
/// Controls do not keep the store alive. After the store is released, they have no visible effect.
public struct OperationControls<State: OperationState & Sendable>: Sendable {
  let runtime: StoreRuntime
  private let projection: StateProjection<State>
  /// The type of the controller.
  private let controller: any Any.Type

  init(runtime: StoreRuntime, projection: StateProjection<State>, controller: any Any.Type) {
    self.runtime = runtime
    self.projection = projection
    self.controller = controller
  }

  /// The controller as the cause of a run.
  private var cause: OperationRunCause {
    OperationRunCause(.controller(OperationName.withoutParameters(self.controller)))
  }
}

extension OperationControls {
  /// The path of the operation.
  public var path: OperationPath { self.runtime.path }

  /// The context of the store.
  public var context: OperationContext { self.runtime.context }

  /// The state of the store.
  public var state: State { self.projection.state(in: self.runtime.shownState) }

  /// The state that runs and setters have produced, without optimistic updates.
  package var stateWithoutLayers: State {
    self.projection.state(in: self.runtime.stateWithoutLayers)
  }

  /// The state that runs and setters have produced, without optimistic updates, and what is known of its value.
  public var stampedState: (state: State, stamp: ValueStamp) {
    let stored = self.runtime.stateWithoutLayers
    return (self.projection.state(in: stored), stored.stamp)
  }

  /// What the run of the value had seen when it began. To be read before ``stampedState``: the value may be newer then,
  /// and not older.
  public var valueEpoch: InvalidationEpoch { self.runtime.withMachine { $0.valueEpoch } }

  /// The number of changes of the value that the count of the state does not include, such as committed optimistic
  /// updates.
  package var uncountedChanges: Int { self.runtime.uncountedChanges }

  /// Whether the store was invalidated, and its value was not refreshed since.
  package var isInvalidated: Bool { self.runtime.isInvalidated }

  /// Whether the value is stale and should be fetched again.
  public var isStale: Bool { self.runtime.isStale }

  /// The number of subscribers of the store.
  public var subscriberCount: Int { self.runtime.subscriberCount }

  /// Whether a rerun is allowed: automatic running is not disabled, and its specification is satisfied.
  ///
  /// It does not depend on subscribers. A controller that reruns only for subscribers also checks ``subscriberCount``.
  public var canYieldRerun: Bool { self.runtime.canYieldRerun }
}

extension OperationControls {
  /// Sets the value of the store.
  ///
  /// - Parameters:
  ///   - value: The value to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  public func yield(_ value: State.StateValue, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Sets the error of the store.
  ///
  /// - Parameters:
  ///   - error: The error to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  public func yield(throwing error: State.Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Sets the value or the error of the store.
  ///
  /// - Parameters:
  ///   - result: The value or error to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func yield(with result: Result<State.StateValue, State.Failure>, using context: OperationContext? = nil) {
    let isSuccess = if case .success = result { true } else { false }
    self.edit(isSuccess: isSuccess, using: context) { state, context in state.update(with: result, using: context) }
  }

  fileprivate func edit(
    isSuccess: Bool,
    as write: StoreEvent.StateWrite = .edited,
    seen epoch: InvalidationEpoch? = nil,
    _ stamp: ValueStamp? = nil,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout State, OperationContext) -> Void
  ) {
    let projection = self.projection
    self.runtime.edit(
      isSuccess: isSuccess,
      as: write,
      seen: epoch,
      stamp,
      by: write == .restored ? .restoration : self.cause,
      using: context
    ) { stored, context in
      projection.edit(&stored) { edit(&$0, context) }
    }
  }

  /// Changes parts of the state other than its value and its error, and notifies the subscribers of the state.
  ///
  /// - Parameter edit: Changes the state, with the lock of the store held.
  package func editState(_ edit: @escaping @Sendable (inout State) -> Void) {
    let projection = self.projection
    self.runtime.editState { stored in projection.edit(&stored, edit) }
  }

  /// Changes what is known of the value, and notifies the subscribers of the state.
  ///
  /// - Parameters:
  ///   - stamp: What is known of the value from now on.
  ///   - former: What is known of the value that is meant. Nothing changes if something else is known of the value.
  ///   - isStillShown: Whether the value is still the one that is meant. Called with the lock of the store held.
  public func restamp(_ stamp: ValueStamp, from former: ValueStamp, if isStillShown: @escaping @Sendable () -> Bool) {
    self.runtime.editState { state in
      if state.stamp == former, isStillShown() { state.restamp(stamp) }
    }
  }

  /// Resets the store to its initial state and cancels its runs.
  ///
  /// - Parameter context: The context of the change; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers and runs.
  public func yieldResetState(using context: OperationContext? = nil) {
    self.runtime.reset(using: context, by: self.cause)
  }
}

extension OperationControls where State: RestorableState {
  /// Takes a value that a level has, unless the value of the store is newer.
  ///
  /// What has seen more invalidations is newer, then what has the later date. A value without a date, such as an initial
  /// one, is older. A value of the same date stays. If a run has yielded the newer value, which it may take back, the other
  /// one is below it.
  ///
  /// - Parameters:
  ///   - restoration: The value.
  ///   - value: What the level knows of it.
  ///   - epoch: The last invalidation that the level has taken into account.
  ///   - latest: The latest date of a value that may replace another one; nil if clocks differ. A later date of the own clock
  ///     means that it was set back.
  /// - Returns: Whether the value that is now shown is invalidated; nil if the store has kept its own.
  package func take(
    _ restoration: State.Restoration,
    of value: LevelValue,
    since epoch: InvalidationEpoch,
    until latest: Date?
  ) -> Bool? {
    self.withExclusiveAccess { controls in
      let log = self.context.storeHost?.invalidations
      let isLate = log?.concerns(path: self.path, tags: value.tags, since: epoch) ?? false
      let isInvalidated = value.isInvalidated || isLate
      let own = controls.stateWithoutLayers
      let isFirst = own.valueUpdateCount == 0
      let isAhead = isInvalidated && own.valueUpdateCount > 0 && !controls.isInvalidated
      let latest = latest ?? .distantFuture
      let isShown = isFirst || (!isAhead && own.isOlder(than: restoration, until: latest))
      guard isShown || controls.runtime.withMachine({ $0.hasUndoLog }) else { return nil }
      // First, so that no subscriber finds the value fresh.
      let invalidates = isShown && (isInvalidated || self.context.invalidatesRestoredValues)
      if invalidates { self.runtime.invalidate(.ofStoredValue) }
      let replaces = isShown || !isInvalidated
      var stamp = value.stamp
      if !isShown, isInvalidated || self.context.invalidatesRestoredValues {
        // The store is not invalidated, as the value that it shows may be fresh. One below it never is.
        stamp.kind = .partial
      } else if isInvalidated, stamp.kind == .partial {
        // A partial value that is invalidated as well is treated as the latter.
        stamp = ValueStamp(.final)
      }
      let write: StoreEvent.StateWrite = isShown && !isFirst ? .edited : .restored
      controls.edit(isSuccess: false, as: write, seen: value.seen, stamp, using: nil) { state, _ in
        if state.valueUpdateCount == 0 {
          state.restore(restoration)
        } else if replaces, state.isOlder(than: restoration, until: latest) {
          state.replaceValue(with: restoration)
        }
      }
      // A run that is under way does not answer it, and no subscriber asks again. A store that is still being restored waits.
      if invalidates, controls.subscriberCount > 0 {
        controls.performInEventOrder { [runtime] in runtime.rerunAfterInvalidation(isEnqueued: true) }
      }
      return isShown ? isInvalidated : nil
    }
  }
}

extension RestorableState {
  /// Whether the value of the state is older than the one of a restoration. A value without a date is older.
  fileprivate func isOlder(than restoration: Restoration, until latest: Date) -> Bool {
    guard let own = self.valueLastUpdatedAt else { return true }
    return Self.valueDate(of: restoration).map { $0 > own && $0 <= latest } ?? false
  }
}

extension OperationControls {
  /// Runs the operation again and waits for its value.
  ///
  /// The caller and the subscribers of the store own the run.
  ///
  /// - Parameter context: Entries for this run, which take precedence over ``context``.
  /// - Returns: The value that the run returns; nil, without a run, when ``canYieldRerun`` is false.
  /// - Throws: The error of the operation. If the call or the run is cancelled, the error that the run ends with, or
  ///   `CancellationError`.
  @discardableResult
  public func yieldRerun(
    with context: OperationContext? = nil
  ) async throws(State.Failure) -> State.OperationValue? {
    guard let task = self.yieldRerunTask(with: context) else { return nil }
    return try await task.runIfNeeded()
  }

  /// Makes a task that runs the operation again.
  ///
  /// - Parameter context: Entries for this run, which take precedence over ``context``.
  /// - Returns: The task, which has not started; nil when ``canYieldRerun`` is false.
  public func yieldRerunTask(
    with context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure>? {
    self.canYieldRerun ? OperationTask(self.runtime.makeRerunTask(using: context, cause: self.cause)) : nil
  }

  /// Runs the operation for the subscribers, or lets them join a run that is under way.
  ///
  /// Returns without waiting for the run. Does nothing without subscribers or when ``canYieldRerun`` is false.
  public func rerunForSubscribers() {
    self.rerunForSubscribers(self.cause)
  }

  /// Runs the operation for the subscribers as ``rerunForSubscribers()`` does, for a cause.
  func rerunForSubscribers(_ cause: @autoclosure () -> OperationRunCause) {
    if self.canYieldRerun { self.runtime.runForSubscribers(mode: .enqueued, origin: RunOrigin(cause())) }
  }

  /// Runs the operation for the subscribers as ``rerunForSubscribers()`` does, beginning on the current thread at once.
  ///
  /// - Parameter cause: Why the operation runs; nil for the controller.
  package func rerunForSubscribersAtOnce(_ cause: OperationRunCause? = nil) {
    guard self.canYieldRerun else { return }
    self.runtime.runForSubscribers(mode: .immediate, origin: RunOrigin(cause ?? self.cause))
  }

  /// Performs an action after all events that were created before this call, and before all later events.
  package func performInEventOrder(_ action: @escaping @Sendable () -> Void) {
    self.runtime.performInOrder(action)
  }

  /// Whether no run is under way, and all notifications of ended runs were sent.
  package var isSettled: Bool { self.runtime.isSettled }

  /// Waits until no run is under way, or the current task is cancelled.
  package func settled() async {
    await self.runtime.settled()
  }

  /// Reruns a stale operation for the subscribers after a condition that it needs became true.
  ///
  /// Returns without waiting for the run. Does nothing without subscribers or when ``canYieldRerun`` or ``isStale`` is
  /// false.
  ///
  /// A run that is already under way continues. Because it started before the condition was true, it may fail: then the
  /// operation runs once more, if ``canYieldRerun`` and ``isStale`` are still true.
  public func rerunForSubscribersSinceChange() {
    self.rerunSinceChange(self.cause)
  }

  /// Reruns as ``rerunForSubscribersSinceChange()`` does, for a cause.
  func rerunSinceChange(_ cause: OperationRunCause) {
    self.runtime.rerunSinceChange(cause)
  }

  /// Calls `observer` after the first subscriber is added or the last one leaves, until the subscription is cancelled.
  ///
  /// `observer` may also be called for other reasons: check ``subscriberCount`` in it.
  ///
  /// - Parameter observer: Called with no lock held.
  /// - Returns: The subscription.
  public func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.runtime.observeActivity(observer)
  }

  /// A weak reference to the store, to observe it.
  public var storeReference: StoreReference { self.runtime.reference }

  /// Runs `body` while no other thread can use the store: see ``OperationStore/withExclusiveAccess(_:)``.
  ///
  /// - Parameter body: Called once, on the current thread, with these controls.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withExclusiveAccess<R, E: Error>(_ body: (OperationControls) throws(E) -> R) throws(E) -> R {
    try self.runtime.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }
}

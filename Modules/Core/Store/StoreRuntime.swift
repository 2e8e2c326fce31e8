public import Synchronization

/// What works behind an ``OperationStore``: it owns the machine, performs what that decides, and runs the operation.
///
/// Runs, subscriptions and controls hold the runtime, never the store, so that the store goes with its last reference and
/// closes the runtime when it does.
@usableFromInline
final class StoreRuntime<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Task = OperationTask<State.OperationValue, State.Failure>
  @usableFromInline typealias StoreRun = SharedRun<State.OperationValue, State.Failure>

  // The lock lies beside what it guards, in one object with it.
  @usableFromInline let lock = ReentrantLock()
  /// Guards `entry` alone, which is set while the client is locked: whoever has exclusive access may be waiting for that.
  @usableFromInline let entryLock = Mutex(())
  @usableFromInline let operation: OperationBox<State>
  // Unsafe only in name: set before anybody else knows of the object.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var madeReference: TypedStoreReference<State>?
  // Unsafe only in name: touched by whoever holds its lock. It is that of the client that keeps the store, if one does.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var entry: StoreEntry?
  /// The number of the last invalidation; 0 before the first.
  @usableFromInline let lastInvalidation = Atomic<Int>(0)
  @usableFromInline let isInClient = Atomic(false)
  /// Whether anybody has come who is to be told when the store goes, and whether it has gone: decided one after the other.
  @usableFromInline let lifetime = Atomic<UInt8>(0)
  /// Whether anybody wants to hear of subscribers.
  @usableFromInline let isProbed: Bool
  /// Numbers the looks at whether the store is idle. It starts again after the greatest.
  @usableFromInline let idlenessReadings = Atomic<UInt32>(0)
  #if DEBUG
    /// What the client was asked for when it made the store.
    @usableFromInline let requestedOperation = RequestedOperation()
  #endif
  // Unsafe only in name: touched by whoever holds the lock, which also makes the accesses exclusive.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var lockedMachine: StoreMachine<State>

  @inlinable
  init(operation: OperationBox<State>, state: State, context: OperationContext) {
    self.operation = operation
    self.isProbed = context.isProbed
    self.lockedMachine = StoreMachine(state: state, context: context)
  }

  /// The way to the machine, through the lock.
  @inlinable
  var machine: StoreMachineAccess<State> { StoreMachineAccess(runtime: self) }

  /// The store, as the contexts of its runs refer to it.
  @inlinable
  var reference: TypedStoreReference<State> {
    guard let reference = self.madeReference else { preconditionFailure("A runtime is made with its store.") }
    return reference
  }
}

/// The machine of a store: what a ``ReentrantMutex`` around it would be, without an object of its own.
@usableFromInline
struct StoreMachineAccess<State: OperationState & Sendable> {
  @usableFromInline let runtime: StoreRuntime<State>

  @inlinable
  init(runtime: StoreRuntime<State>) {
    self.runtime = runtime
  }

  /// Whether the current thread has exclusive access.
  @inlinable
  var isOwnedByCurrentThread: Bool { self.runtime.lock.isOwnedByCurrentThread }

  /// Runs `body`, which must not call foreign code, with the machine.
  @inlinable
  func withLock<R>(_ body: (inout StoreMachine<State>) -> R) -> R {
    self.runtime.lock.withLock { body(&self.runtime.lockedMachine) }
  }
}

extension StoreRuntime {
  /// Whether the store has ever been invalidated.
  @inlinable
  var wasInvalidated: Bool { self.lastInvalidation.load(ordering: .relaxed) > 0 }

  /// Whether a client keeps the store, or has done so.
  @inlinable
  var wasInClient: Bool { self.isInClient.load(ordering: .acquiring) }

  @inlinable static var hasDependentsFlag: UInt8 { 1 }
  @inlinable static var isClosedFlag: UInt8 { 2 }

  /// Whether anybody has ever come who is to be told that the store is gone, or let go of then.
  @inlinable
  var hasDependents: Bool { self.lifetime.load(ordering: .acquiring) & Self.hasDependentsFlag != 0 }

  /// Notes that the store is gone. Returns whether there is anybody to tell.
  @inlinable
  func markClosed() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.isClosedFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.hasDependentsFlag != 0
  }

  private var lockedEntry: StoreEntry? { self.entryLock.withLock { _ in self.entry } }

  /// Tells the client that the store is gone.
  func leaveClient() {
    self.lockedEntry?.storeIsGone()
  }

  /// Notes that somebody has come who is to be told when the store goes. Returns whether it is gone already.
  @usableFromInline
  @discardableResult
  func noteDependent() -> Bool {
    self.reference.hadListeners.store(true, ordering: .releasing)
    let former = self.lifetime.bitwiseOr(Self.hasDependentsFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.isClosedFlag != 0
  }
}

// MARK: - Acting after the lock

extension StoreRuntime {
  /// Makes a change under the lock, and tells of it after.
  ///
  /// - Parameters:
  ///   - context: What is told with it; asked for after the change.
  ///   - run: The run that makes the change, if one does.
  ///   - result: The result that the change brings, if its change say so.
  ///   - replacesValue: False where the change leaves the value and the error as they are.
  ///   - body: Changes the machine and nothing else: beneath layers it is carried out more than once.
  @inlinable
  func change(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: Result<State.OperationValue, State.Failure>? = nil,
    replacesValue: Bool = true,
    _ body: (inout StoreMachine<State>) -> StoreChange
  ) {
    var change = StoreChange()
    var recipients: Recipients<State>?
    var state: State?
    // A deinitializer is foreign code as well: what the change has replaced goes after the lock.
    var replaced: StoreMachine<State>.RetainedValues?
    var released: [any Sendable] = []
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let isMade = self.machine.withLock { machine in
      guard !machine.callsLayers else { return false }
      if replacesValue { replaced = machine.retainedValues }
      if State.hasHistory { machine.release(machine.state) }
      machine.version += 1
      change = body(&machine)
      recipients = machine.recipients(of: change, result: result, context(), run: run, mayDeliver: mayDeliver)
      if change.isStateNew, recipients != nil { state = machine.shownState }
      if machine.extras != nil { released = machine.takeReleased() }
      return true
    }
    if !mayDeliver { self.deferRelease(of: replaced) }
    _ = consume replaced
    _ = consume released
    if !isMade { self.changeBeneathLayers(context(), run: run, result: result, body) }
    guard let recipients else { return }
    recipients.receive(
      state: state,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context(),
      run: run
    )
    self.endDelivery()
  }

  /// Makes a change that may alter what the layers make of the state.
  ///
  /// The layers are user code, so they are applied to a draft of the change outside the lock, those included that have
  /// become part of the value and are replayed; the change is made when nothing else has changed by then.
  @usableFromInline
  func changeBeneathLayers(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: Result<State.OperationValue, State.Failure>? = nil,
    _ body: (inout StoreMachine<State>) -> StoreChange
  ) {
    while true {
      var draft = self.machine.withLock { $0 }
      let version = draft.version
      let results = LayerResults<State>()
      draft.setLayerResults(results)
      _ = body(&draft)
      let shown = draft.hasLayers ? draft.stateBeneathLayers() : nil
      var replaced: StoreMachine<State>.RetainedValues?
      var released: [any Sendable] = []
      let isMade = self.machine.withLock { machine in
        guard machine.version == version else { return false }
        replaced = machine.retainedValues
        if State.hasHistory { machine.release(machine.state) }
        machine.version += 1
        machine.show(shown)
        results.replay()
        machine.setLayerResults(results)
        let change = body(&machine)
        machine.setLayerResults(nil)
        machine.queue(change, result: result, context(), run: run)
        released = machine.takeReleased()
        return true
      }
      self.deferRelease(of: replaced)
      _ = consume replaced
      _ = consume released
      if isMade { return self.deliver() }
    }
  }

  /// Keeps what a change has replaced until the exclusive access of this thread ends, if it has that.
  ///
  /// Only the last few are kept, so that they do not pile up: those before go while the access lasts.
  @usableFromInline
  func deferRelease(of replaced: StoreMachine<State>.RetainedValues?) {
    guard let replaced, self.machine.isOwnedByCurrentThread else { return }
    let surplus = self.machine.withLock { $0.deferRelease(of: replaced) }
    _ = consume surplus
  }

  func editLayers(_ edit: (inout StoreMachine<State>) -> Void) {
    self.changeBeneathLayers(OperationContext()) { machine in
      edit(&machine)
      return StoreChange()  // The machine has told of it itself, with its own context.
    }
  }

  /// Makes what a layer shows part of the state.
  func commit(_ layer: StateLayer<State>) {
    while true {
      let (state, version) = self.machine.withLock { ($0.state, $0.version) }
      var committed = state
      layer.apply(&committed)
      let isCommitted = self.commit(layer, committed, at: version)
      if isCommitted { return self.deliver() }
    }
  }

  private func commit(_ layer: StateLayer<State>, _ committed: State, at version: UInt64) -> Bool {
    var draft = self.machine.withLock { $0 }
    guard draft.version == version else { return false }
    draft.commit(layer, committed)
    let shown = draft.hasLayers ? draft.stateBeneathLayers() : nil
    var replaced: StoreMachine<State>.RetainedValues?
    var released: [any Sendable] = []
    let isCommitted = self.machine.withLock { machine in
      guard machine.version == version else { return false }
      replaced = machine.retainedValues
      if State.hasHistory { machine.release(machine.state) }
      machine.version += 1
      machine.show(shown)
      machine.commit(layer, committed)
      released = machine.takeReleased()
      return true
    }
    _ = consume replaced
    _ = consume released
    return isCommitted
  }

  /// Hands events over until there are none, unless somebody does so already or the thread has exclusive access.
  @usableFromInline
  func deliver() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    self.deliver(from: self.machine.withLock { $0.beginDelivery() })
  }

  private func deliver(from first: Delivery<State>?) {
    var delivery = first
    while let current = delivery {
      current.perform()
      delivery = self.machine.withLock { $0.nextDelivery() }
    }
  }

  /// Ends a delivery that has not been in the event queue with what has come into it meanwhile.
  @inlinable
  func endDelivery() {
    if !self.machine.withLock({ $0.endDelivery() }) { self.deliverRest() }
  }

  @usableFromInline
  func deliverRest() {
    self.deliver(from: self.machine.withLock { $0.nextDelivery() })
  }

  /// Performs an action between the events, in the order in which they were made.
  @usableFromInline
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let isNext = self.machine.withLock { machine in
      guard mayDeliver, machine.eventQueue.isEmpty, !machine.eventQueue.isDelivering else {
        machine.eventQueue.append(.action(action))
        return false
      }
      machine.eventQueue.isDelivering = true
      return true
    }
    guard isNext else { return }
    action()
    self.endDelivery()
  }

  /// Does something that may call foreign code: now, or when the exclusive access of this thread ends.
  @inlinable
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.machine.isOwnedByCurrentThread {
      self.machine.withLock { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  @inlinable
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.lock.withExclusiveAccess(body)
  }

  @usableFromInline
  func performDeferredActions() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    let (actions, releases) = self.machine.withLock { ($0.takeDeferredActions(), $0.takeDeferredReleases()) }
    self.deliver()
    for action in actions { action() }
    _ = consume releases
  }

  /// Tells the client when the store has become idle or stopped being so, and observers when runs or subscribers are there
  /// that were not, or the other way round.
  @inlinable
  func activityChanged() {
    let change = self.machine.withLock { self.activityChange(of: &$0) }
    if let change { self.notify(of: change) }
  }

  /// What a change of the machine means to the client and to observers.
  @inlinable
  func activityChange(of machine: inout StoreMachine<State>) -> StoreActivityChange? {
    machine.reportActivity(isInClient: self.wasInClient, reading: self.nextIdlenessReading())
  }

  /// A number for a look at whether the store is idle. The last look at what counts is taken under the lock, so that later
  /// looks have later numbers; those at drafts leave gaps.
  @inlinable
  func nextIdlenessReading() -> UInt32 {
    self.idlenessReadings.wrappingAdd(1, ordering: .relaxed).newValue
  }

  @usableFromInline
  func notify(of change: StoreActivityChange) {
    if self.machine.isOwnedByCurrentThread { return self.act { self.notify(of: change) } }
    for observer in change.observers { observer() }
    if let idleness = change.idleness { self.lockedEntry?.idlenessChanged(to: idleness) }
  }
}

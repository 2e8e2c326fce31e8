internal import Synchronization

/// The implementation of an ``OperationStore``: owns the state machine, performs its decisions, and runs the operation.
///
/// Runs, subscriptions and controls retain the runtime, never the store, so the store is deinitialized with its last
/// reference, and closes the runtime.
@usableFromInline
package final class StoreRuntime: Sendable {
  // The lock and the value that it guards are in one object.
  let lock = ReentrantLock()
  /// Guards only the entry. The entry is set with the client's lock held, and a thread with exclusive access to the
  /// store may wait for that lock.
  let entryLock = Mutex(())
  @usableFromInline package let operation: OperationBox
  // Unsafe only in name: `entryLock` guards the entry, and the reference is set before the object is shared. With a
  // `Mutex` around the entry, each store would be 16 bytes larger. An `AtomicLazyReference` would take 2,900
  // instructions more of the 5,600 that a store takes to make and to drop.
  nonisolated(unsafe) var links = Links()
  /// The number of the last invalidation; 0 before the first.
  let lastInvalidation = Atomic<Int>(0)
  let isInClient = Atomic(false)
  /// Flags in one atomic value, so that a thread that sets one sees the others: has dependents, is closed, is over.
  let lifetime = Atomic<UInt8>(0)
  /// What the observers of the store receive, a ``StoreWatch``. Written with the lock held.
  let watch = Atomic<UInt32>(0)
  /// Whether the context of the store has, or had, interceptors of its calls.
  private let hasInterceptors: Atomic<Bool>
  /// The settings by which the store treats states of its type.
  let traits: StateTraits
  /// The sequence number of the last idleness check. It wraps around.
  let idlenessReadings = Atomic<UInt32>(0)
  #if DEBUG
    /// The operation that was passed to the client when it made the store.
    @usableFromInline package let requestedOperation = RequestedOperation()
  #endif
  /// The observers of the client that observe the store; nil for none.
  // Unsafe only in name: guarded by `lock`.
  nonisolated(unsafe) var clientObservers: ClientObservers.List?
  // Unsafe only in name: guarded by `lock`, which also makes the accesses exclusive: see `QueryContent` for the figure.
  @exclusivity(unchecked) nonisolated(unsafe) var lockedMachine: StoreMachine

  struct Links {
    /// The reference is not a constant of the runtime, because it needs the store.
    var reference: StoreReference?
    /// The entry of the client that has the store, if any.
    var entry: (any StoreMembership)?
    /// Makes the store that takes the place of this one; nil if no client has made this one. Set before the object is
    /// shared.
    var maker: Any.Type?

    init() {}
  }

  init(operation: OperationBox, state: any StoredState, context: OperationContext) {
    self.operation = operation
    self.traits = type(of: state).traits
    self.hasInterceptors = Atomic(context.isSet(OperationContext.CallInterceptorsKey.self))
    self.lockedMachine = StoreMachine(state: state, context: context)
  }

  /// Runs `body` on the machine with the lock held. It must not call user code.
  func withMachine<R: ~Copyable>(_ body: (inout StoreMachine) -> R) -> R {
    self.lock.withLock { body(&self.lockedMachine) }
  }

  /// The weak reference to the store that the contexts of its runs carry.
  package var reference: StoreReference {
    guard let reference = self.links.reference else { preconditionFailure("A runtime is made with its store.") }
    return reference
  }
}

extension StoreRuntime {
  /// Whether calls of the store may have interceptors.
  package var interceptsCalls: Bool { self.hasInterceptors.load(ordering: .acquiring) }

  /// Notes the interceptors in a context that the store is about to have.
  func noteInterceptors(in context: OperationContext) {
    if context.isSet(OperationContext.CallInterceptorsKey.self) {
      self.hasInterceptors.store(true, ordering: .releasing)
    }
  }

  /// Whether the store has ever been invalidated.
  var wasInvalidated: Bool { self.lastInvalidation.load(ordering: .relaxed) > 0 }

  /// Whether the store is in a client, or has been in one.
  var wasInClient: Bool { self.isInClient.load(ordering: .acquiring) }

  static var hasDependentsFlag: UInt8 { 1 }
  static var isClosedFlag: UInt8 { 2 }
  static var isOverFlag: UInt8 { 4 }

  /// Whether anything has ever subscribed to the store, or attached to it.
  @usableFromInline
  package var hasDependents: Bool { self.lifetime.load(ordering: .acquiring) & Self.hasDependentsFlag != 0 }

  /// Marks the store deinitialized. Returns whether it has dependents to notify.
  func markClosed() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.isClosedFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.hasDependentsFlag != 0
  }

  /// Whether a client has removed the store. It runs nothing by itself since then, and writes nothing.
  package var isOver: Bool { self.lifetime.load(ordering: .acquiring) & Self.isOverFlag != 0 }

  /// Marks the store as removed, in the step in which the client forgets it.
  func markOver() {
    _ = self.lifetime.bitwiseOr(Self.isOverFlag, ordering: .acquiringAndReleasing)
  }

  /// The entry of the client that has the store, read with its lock held.
  package var lockedEntry: (any StoreMembership)? { self.entryLock.withLock { _ in self.links.entry } }

  /// Notifies the client that the store was deinitialized.
  func leaveClient() {
    self.lockedEntry?.storeIsGone()
  }

  /// Notes that the store has a dependent to notify when it is deinitialized. Returns whether the store has been
  /// deinitialized already.
  @discardableResult
  func noteDependent() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.hasDependentsFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.isClosedFlag != 0
  }
}

// MARK: - Configuration

extension StoreRuntime {
  /// Attaches the handlers, controllers and observers that modifiers of the operation have put into the context.
  ///
  /// - Parameters:
  ///   - context: The context that the operation has set up.
  ///   - state: The type of the state of the store.
  func attachConfiguration<State: OperationState & Sendable>(of context: OperationContext, for state: State.Type) {
    // A controller may change the state at once, for example to a stored one.
    if context.event.isOfNewStore { context.clientObservers?.storeWillBeTaken(self) }
    let (handlers, controllers) = (context.operationEventHandlers, context.operationControllers)
    let followsSpecification = context.changingAutomaticRunningSpecification != nil
    let observers = context.operationObservers
    if handlers.isEmpty, controllers.isEmpty, observers.isEmpty, !followsSpecification { return }
    self.noteDependent()
    // Observers come before controllers, because a controller may set a value.
    for observer in observers { self.add(StoreObserving(observer)) }
    for handler in handlers {
      if let handler = handler.adapted(to: State.self) {
        let subscriber = TypedSubscriber(handler)
        self.withMachine { $0.subscribers.add(subscriber, role: .listener) }
      } else {
        self.reportMismatch(of: type(of: handler), with: state)
      }
    }
    guard !controllers.isEmpty || followsSpecification else { return }
    var subscriptions = controllers.map { self.start($0, for: state) }
    if let subscription = self.followAutomaticRunning(in: context) { subscriptions.append(subscription) }
    // Most stores have at most one controller, which needs no combined subscription.
    let subscription = subscriptions.count == 1 ? subscriptions[0] : .combined(subscriptions)
    self.withMachine { $0.controllers = subscription }
  }

  private func start<State: OperationState & Sendable, Controller: OperationController & Sendable>(
    _ controller: Controller,
    for state: State.Type
  ) -> OperationSubscription {
    guard let projection = StateProjection<Controller.State>(from: state) else {
      self.reportMismatch(of: Controller.self, with: state)
      return .empty
    }
    return controller.control(
      with: OperationControls(runtime: self, projection: projection, controller: Controller.self)
    )
  }

  private func reportMismatch(of type: any Any.Type, with state: any Any.Type) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        \(type) is attached to the operation at \(ShownText.of(self.path)), whose state is \(state). It is ignored. \
        Attach it to an operation with the state that it was written for.
        """
    ).report()
  }
}

// MARK: - The client

// The members of a store's runtime that a client uses.
extension StoreRuntime {
  var unmodifiedOperationType: any OperationRequest.Type { self.operation.unmodifiedType }

  var operationName: String { self.operation.operationName }

  var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  /// The store; nil when it no longer exists.
  package var store: (any AnyObject & Sendable)? { self.reference.typedStore }

  /// Creates another store with this runtime, in place of a store that no longer exists.
  package func makeStandIn() -> any AnyObject & Sendable {
    let state = self.stateWithoutLayers
    return type(of: state).makeStore(of: self)
  }

  package var isLoading: Bool { self.withMachine { $0.state.isLoading } }

  /// Stores the entry of the client that keeps the store.
  package func keep(_ entry: any StoreMembership) {
    // The number is one less than the last: the client may still receive the result of that check, and must accept it.
    entry.accept(readingsAfter: self.idlenessReadings.load(ordering: .relaxed) &- 1)
    let previous = self.entryLock.withLock { _ in
      defer { self.links.entry = entry }
      return self.links.entry.take()
    }
    self.isInClient.store(true, ordering: .releasing)
    _ = consume previous  // Released after unlocking.
  }

  /// Removes the entry when the client no longer keeps the store.
  ///
  /// - Parameters:
  ///   - entry: The entry of the client.
  ///   - isOver: Whether the client has removed the store, so that it is over, unless another client has it.
  package func leave(_ entry: any StoreMembership, isOver: Bool) {
    self.entryLock.withLock { _ in
      guard self.links.entry === entry else { return }
      // The caller has a reference to the entry, so it is not destroyed under the lock.
      self.links.entry = nil
      if isOver { self.markOver() }
    }
  }
}

// MARK: - Runs

extension StoreRuntime {
  /// The context of a run: the store's, overlaid with the entries of `context`.
  func runContext(_ context: OperationContext?) -> OperationContext {
    if let context { self.overlaidContext(context) } else { self.context }
  }

  // Not inlined: most calls pass no context.
  @inline(never)
  private func overlaidContext(_ context: OperationContext) -> OperationContext {
    var merged = self.context.overlaid(with: context)
    // The origin of the present run does not apply to runs that its body makes.
    if let origin = context.run.origin, context.run.taskIdentifier == nil { merged.run.origin = origin }
    return merged
  }

  /// Makes a run, which other callers can join if the context has a rule for that.
  func makeRun(in context: OperationContext, ownerCount: Int = 0) -> SharedRun {
    SharedRun(
      delegate: self,
      failure: self.operation.failureType,
      isShared: context.operationRunSharing != nil,
      ownerCount: ownerCount
    )
  }

  /// Makes a task that has not started.
  func makeTask(using context: OperationContext?) -> ErasedTask {
    let context = self.runContext(context)
    return ErasedTask(sharedRun: self.makeRun(in: context), context: context)
  }
}

// MARK: - Names of tasks

extension StoreRuntime {
  /// Makes a task with a name that its caller can read before the task starts.
  func makeNamedTask(using context: OperationContext?) -> ErasedTask {
    var task = self.makeTask(using: context)
    task.context.taskNaming = OperationContext.TaskNaming(operation: self.operation.storage)
    return task
  }
}

extension OperationContext {
  /// The name of a store's task without a configured name; nil for other tasks, and once the operation is released.
  var defaultTaskName: String? {
    self.run.store?.taskName(in: self) ?? self[TaskNamingKey.self]?.operation?.taskName(in: self)
  }

  /// The operation that names a task. The reference is weak, so that a finished task keeps no operation alive.
  fileprivate struct TaskNaming: Sendable {
    weak let operation: AnyOperationStorage?
  }

  fileprivate var taskNaming: TaskNaming? {
    get { self[TaskNamingKey.self] }
    set { self[TaskNamingKey.self] = newValue }
  }

  private enum TaskNamingKey: Key {
    static var defaultValue: TaskNaming? { nil }
  }
}

// MARK: - Idleness

extension StoreRuntime {
  /// Notifies the client and the observers of activity if a change of the machine requires it.
  func activityChanged() {
    let change = self.withMachine { machine in
      let last = machine.reportedActivity
      let change = self.activityChange(of: &machine)
      self.queueActivity(since: last, &machine)
      return change
    }
    if let change { self.notify(of: change) }
    if self.isWatched(.activity) { self.deliver() }
  }

  /// The notifications that a change of the machine requires; nil for none. Called with the lock held.
  func activityChange(of machine: inout StoreMachine) -> StoreActivityChange? {
    machine.reportActivity(isInClient: self.wasInClient, reading: self.nextIdlenessReading())
  }

  /// Returns the sequence number of an idleness check.
  ///
  /// Checks of the machine itself are numbered with the lock held, so later checks have greater numbers. Checks of
  /// drafts leave gaps.
  func nextIdlenessReading() -> UInt32 {
    self.idlenessReadings.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Calls the observers and notifies the client: now, or when the exclusive access of this thread ends.
  func notify(of change: StoreActivityChange) {
    if self.lock.isOwnedByCurrentThread { return self.act { self.notify(of: change) } }
    for observer in change.observers { observer() }
    if let idleness = change.idleness { self.lockedEntry?.idlenessChanged(to: idleness) }
  }

  /// Checks whether the store is idle, and numbers the check.
  package func readIdleness() -> StoreIdleness {
    self.withMachine { StoreIdleness(isIdle: $0.isIdle, reading: self.nextIdlenessReading()) }
  }

  /// Calls `observer` after the store gets its first subscriber or run, and after it loses its last.
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    let isClosed = self.noteDependent()
    let isCancelled = AtomicFlag(false)
    let id = self.withMachine { machine in
      if isClosed || machine.isClosed { return UInt64(0) }
      let id = (machine.activityObservers.keys.max() ?? 0) + 1
      machine.activityObservers[id] = { if !isCancelled.isOn { observer() } }
      return id
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      let observer = self.withMachine { $0.activityObservers.removeValue(forKey: id) }
      _ = consume observer  // Released after unlocking.
    }
  }
}

// MARK: - The end of the store

extension StoreRuntime {
  /// Ends all subscriptions, and gives up the runs for subscribers. Called when the store is deinitialized.
  ///
  /// The subscribers receive a last state that is not loading, even if callers still wait for a run. Then they receive
  /// the end of the store.
  func close() {
    let (isInUse, controllers, observers, hasObservers) = self.withMachine { machine in
      machine.isClosed = true
      defer {
        machine.controllers = nil
        if !machine.activityObservers.isEmpty { machine.activityObservers = [:] }
      }
      let isInUse = !machine.subscribers.isEmpty || !machine.subscriberRuns.isEmpty
      let hasObservers = machine.extras?.content.observers.isEmpty == false || self.clientObservers != nil
      return (isInUse, machine.controllers, machine.activityObservers, hasObservers)
    }
    if isInUse {
      // The order matters: a cancelled run ends on another thread, and the subscribers are not notified of that end.
      self.endSubscriptions()
      self.disownSubscriberRuns()
    }
    controllers?.cancel()
    // After the events of the subscribers.
    if hasObservers { self.performInOrder { self.endObservation() } }
    _ = consume observers  // Released after unlocking.
  }

  /// Ends what the store does by itself: its controllers, the runs for subscribers, and the subscriptions. Called when
  /// the client has removed the store, which is over then.
  ///
  /// Callers of its runs, listeners and observers stay, as at a store that belongs to no client.
  package func wasRemovedFromClient() {
    // Another client may have the store.
    guard self.hasDependents, self.isOver else { return }
    self.disownSubscriberRuns()
    self.act {
      // If the cancellation of the runs is delayed, this comes after it.
      CancellationTrampoline.perform {
        self.endMemberships()
        let controllers = self.withMachine { $0.controllers.take() }
        controllers?.cancel()
      }
    }
  }

  /// Lets the client know that the store has a run after its removal, which ends when the client clears everything.
  @inline(never)
  package func noteRunAfterRemoval() {
    let hasRuns = self.withMachine { !$0.runs.isEmpty || !$0.reservedTasks.isEmpty }
    if hasRuns { self.context.storeHost?.note(removed: self) }
  }

  /// Notifies all handlers of the removal after all earlier events, and removes the subscribers.
  ///
  /// The last state of the subscribers is not loading, even if callers still wait for a run.
  func endMemberships() {
    let draft = self.withMachine { $0.isClosed || $0.subscribers.isEmpty ? nil : Optional($0.draft()) }
    guard let draft else { return }
    let context = draft.context
    let state = draft.state.isLoading ? draft.stateWithoutRuns() : nil
    self.withMachine { machine in
      for member in machine.subscribers.members where !member.isEnding.exchange(true, ordering: .relaxed) {
        machine.queueEnd(state, context, addressee: member)
      }
      machine.queue(StoreChange(lifecycle: .storeRemoved), result: nil, context, run: nil)
      machine.eventQueue.append(.action { self.removeMembers() })
    }
    self.deliver()
  }

  /// Cancels the runs that only subscribers wait for.
  private func disownSubscriberRuns() {
    let sharedRuns = self.withMachine { machine in
      defer { machine.subscriberRuns = [] }
      return machine.subscriberRuns
    }
    if !sharedRuns.isEmpty { self.act { for sharedRun in sharedRuns { sharedRun.removeOwner() } } }
  }

  /// Notifies the subscribers of the end of the store after all earlier events, and removes them.
  private func endSubscriptions() {
    self.act {
      let draft = self.withMachine { $0.draft() }
      let context = draft.context
      let state = draft.state.isLoading ? draft.stateWithoutRuns() : nil
      self.withMachine { machine in
        machine.queueEnd(state, context, addressee: nil)
        machine.eventQueue.append(.action { self.removeSubscribers() })
      }
      self.deliver()
    }
  }

  private func removeSubscribers() {
    let subscribers = self.withMachine { machine in
      if self.isWatched(.subscribers) { self.queueDepartures(&machine) }
      return machine.subscribers.removeAll()
    }
    for subscriber in subscribers { subscriber.onStoreGone?() }
  }

  /// Removes the subscribers whose last event was delivered. Others may have come since it was queued.
  private func removeMembers() {
    let isWatched = self.isWatched(.subscribers)
    let members = self.withMachine { machine in
      let members = machine.subscribers.members.filter { $0.isEnding.load(ordering: .relaxed) }
      for member in members {
        let name = machine.subscribers.role(of: member)?.text
        _ = machine.subscribers.remove(member)
        if isWatched { self.queue(.subscriberLeft(name: name, count: machine.subscribers.count), &machine) }
      }
      return members
    }
    for member in members { member.onStoreGone?() }
    self.activityChanged()
  }
}

extension StoreRuntime {
  /// Queues the events of all subscribers that leave with the store. Called with the lock held.
  private func queueDepartures(_ machine: inout StoreMachine) {
    let names = machine.subscribers.names
    for (index, name) in names.enumerated() {
      self.queue(.subscriberLeft(name: name?.text, count: names.count - index - 1), &machine)
    }
  }
}

extension StoreMachine {
  /// The state that the store shows once all runs are rolled back. Called without the lock, because layers are user
  /// code.
  func stateWithoutRuns() -> any StoredState {
    var draft = self.draft()
    draft.setLayerResults(LayerResults())
    var released = ReleasedValues()
    for run in self.runs { _ = draft.rollBack(run.id, &released) }
    return draft.hasLayers ? draft.stateWithLayers() : draft.state
  }

  /// Queues the end of the store for its handlers, with their last state; nil if they have received that state.
  ///
  /// - Parameters:
  ///   - state: The last state.
  ///   - context: The context of the event.
  ///   - addressee: The only recipient; nil for all.
  fileprivate mutating func queueEnd(
    _ state: (any StoredState)?,
    _ context: OperationContext,
    addressee: Subscriber?
  ) {
    let event = QueuedEvent(
      state: state,
      result: nil,
      lifecycle: .storeRemoved,
      context: context,
      run: nil,
      limit: self.subscribers.nextNumber,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }
}

internal import Synchronization

extension StoreRuntime {
  /// Adds a subscriber, delivers the state to it, and runs the operation if the value is stale.
  ///
  /// - Parameter mode: `enqueued` if the caller is on an actor, which the operation must not block.
  @inlinable
  func subscribe(
    _ handler: OperationEventHandler<State>,
    mode: StoreRun.StartMode,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> OperationSubscription {
    if self.isProbed { return self.subscribeProbed(handler, mode: mode, onStoreGone: onStoreGone) }
    return self.addSubscriber(handler, mode: mode, onStoreGone: onStoreGone)
  }

  @inlinable
  func addSubscriber(
    _ handler: OperationEventHandler<State>,
    mode: StoreRun.StartMode,
    onStoreGone: (@Sendable () -> Void)?
  ) -> OperationSubscription {
    var isClosed = self.noteDependent()
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    var (state, context) = (State?.none, OperationContext())
    let (subscriber, recipients, change) = self.machine.withLock { machine in
      if machine.isClosed { isClosed = true }
      let subscriber = machine.subscribers.add(handler, role: .subscriber, onStoreGone: onStoreGone)
      context = machine.context
      let recipients = machine.recipients(
        of: StoreChange(isStateNew: true),
        result: nil,
        context,
        run: nil,
        addressee: subscriber,
        mayDeliver: mayDeliver
      )
      if recipients != nil { state = machine.shownState }
      return (subscriber, recipients, self.activityChange(of: &machine))
    }
    if let recipients {
      recipients.receive(state: state, result: nil, lifecycle: nil, context, run: nil)
      self.endDelivery()
    }
    if let change { self.notify(of: change) }
    if isClosed { return self.subscriptionToClosedStore(subscriber) }
    if self.isAutomaticRunningEnabled, self.isStale { self.runForSubscribers(mode: mode) }
    return OperationSubscription { self.unsubscribe(subscriber) }
  }

  /// Ends a subscription to a deinitialized store: the subscriber has the last state, and no event follows.
  @usableFromInline
  func subscriptionToClosedStore(_ subscriber: Subscriber<State>) -> OperationSubscription {
    self.unsubscribe(subscriber)
    subscriber.onStoreGone?()
    return .empty
  }

  @inlinable
  func unsubscribe(_ subscriber: Subscriber<State>) {
    subscriber.cancel()
    let sharedRuns: [StoreRun] = self.machine.withLock { machine in
      guard machine.subscribers.remove(subscriber), machine.subscribers.count == 0 else { return [] }
      defer { machine.subscriberRuns = [] }
      return machine.subscriberRuns
    }
    if !sharedRuns.isEmpty { self.act { for sharedRun in sharedRuns { sharedRun.removeOwner() } } }
    self.activityChanged()
  }

  /// Runs the operation for the subscribers, which own the run together; an existing run is used if there is one.
  @inlinable
  func runForSubscribers(mode: StoreRun.StartMode) {
    let context = self.context
    if context.automaticRunsAreStopped { return }
    let task: Task? = self.machine.withLock { machine in
      guard machine.subscribers.count > 0, !machine.holdsRefresh() else { return nil }
      // The subscribers are its first owner.
      let task = Task(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
      machine.subscriberRuns.append(task.sharedRun)
      machine.reservedTasks.append(task)
      return task
    }
    guard let task else { return }
    self.act { task.sharedRun.begin(in: task.context, mode: mode) }
  }

  /// A task that runs the operation again; the subscribers own the run together with the tasks that await it.
  @inlinable
  func makeRerunTask(using context: OperationContext?) -> Task {
    var task = self.makeNamedTask(using: context)
    task.context.run.isForSubscribers = true
    return task
  }

  /// Calls `observer` when the first subscriber comes, the last one leaves, the first run starts or the last one finishes.
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    let isClosed = self.noteDependent()
    let isCancelled = Switch(false)
    let id = self.machine.withLock { machine in
      if isClosed || machine.isClosed { return UInt64(0) }
      let id = (machine.activityObservers.keys.max() ?? 0) + 1
      machine.activityObservers[id] = { if !isCancelled.isOn { observer() } }
      return id
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      let observer = self.machine.withLock { $0.activityObservers.removeValue(forKey: id) }
      _ = consume observer  // Released after unlocking.
    }
  }

  /// Ends all subscriptions and disowns the automatic runs. Called when the store is deinitialized.
  func close() {
    let (subscribers, sharedRuns, controllers, observers) = self.machine.withLock { machine in
      machine.isClosed = true
      defer {
        machine.subscriberRuns = []
        machine.controllers = nil
        if !machine.activityObservers.isEmpty { machine.activityObservers = [:] }
      }
      return (machine.subscribers.removeAll(), machine.subscriberRuns, machine.controllers, machine.activityObservers)
    }
    for subscriber in subscribers { subscriber.onStoreGone?() }
    for sharedRun in sharedRuns { sharedRun.removeOwner() }
    controllers?.cancel()
    _ = consume observers  // Released after unlocking.
  }
}

extension StoreMachine {
  /// Whether the subscribers own a current or reserved run that refreshes the value. An existing run without their ownership
  /// becomes theirs.
  @usableFromInline
  mutating func holdsRefresh() -> Bool {
    let isOwner = self.subscriberRuns.contains { sharedRun in
      if let index = self.index(ofRun: sharedRun.id) { return self.canRefresh(self.runs[index]) }
      return sharedRun.isAlive && self.reservedTasks.contains { $0.id == sharedRun.id }
    }
    if isOwner { return true }
    for run in self.runs.reversed() where self.canRefresh(run) && run.task.sharedRun.addOwner() {
      self.subscriberRuns.append(run.task.sharedRun)
      return true
    }
    // The results of those runs predate the invalidation: the rerun starts when they have finished.
    if self.isInvalidated, !self.runsBeforeInvalidation.isEmpty {
      self.owesRerun = true
      return true
    }
    return false
  }
}

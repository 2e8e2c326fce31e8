internal import Synchronization

extension StoreRuntime {
  /// Runs the operation for the subscribers. Together they are one owner of the run.
  ///
  /// Does nothing without subscribers, and if the client has removed the store. Uses a run that is under way and
  /// refreshes the value, if there is one.
  ///
  /// - Parameters:
  ///   - mode: `enqueued` if the caller is on an actor, which the operation must not block.
  ///   - origin: Why it runs.
  ///   - version: The version of the state for which the run was found necessary; nil if it is in any case.
  /// - Returns: Whether the state had that version.
  @discardableResult
  package func runForSubscribers(mode: SharedRun.StartMode, origin: RunOrigin, ifStillAt version: UInt64? = nil) -> Bool
  {
    var context = self.context
    if context.automaticRunsAreStopped { return true }
    var isCurrent = true
    let task: ErasedTask? = self.withMachine { machine in
      isCurrent = version.map { $0 == machine.version } ?? true
      if !isCurrent { return nil }
      // Asked with the lock held: a removal that comes after it finds the run, and cancels it.
      guard machine.subscribers.count > 0, !machine.isClosed, !self.isOver, !machine.findRunForSubscribers() else {
        return nil
      }
      context.run.origin = origin
      // The subscribers are the first owner.
      let task = ErasedTask(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
      machine.subscriberRuns.append(task.sharedRun)
      machine.reservedTasks.append(task)
      return task
    }
    guard let task else { return isCurrent }
    self.act { task.sharedRun.start(in: task.context, mode: mode) }
    return true
  }

  /// Runs the operation for the subscribers if the value is stale.
  ///
  /// The rules of staleness are asked without the lock, and a run may end meanwhile. Then they are asked again: its
  /// value may be fresh.
  func runForSubscribersIfStale(mode: SharedRun.StartMode, origin: RunOrigin) {
    var version: UInt64
    repeat {
      version = self.withMachine { $0.version }
      guard self.isStale else { return }
    } while !self.runForSubscribers(mode: mode, origin: origin, ifStillAt: version)
  }

  /// Makes a task that runs the operation again. The subscribers and the callers of the task own the run.
  func makeRerunTask(using context: OperationContext?, cause: OperationRunCause) -> ErasedTask {
    var task = self.makeNamedTask(using: context)
    if task.context.run.origin == nil { task.context.run.origin = RunOrigin(cause) }
    task.context.run.isForSubscribers = true
    return task
  }

  /// Runs a stale operation again for the subscribers after a condition of the operation became true.
  ///
  /// A run that is under way has started before that. If it fails, the operation runs again.
  ///
  /// - Parameter cause: The condition.
  @usableFromInline
  func rerunSinceChange(_ cause: OperationRunCause) {
    guard self.subscriberCount > 0, self.canYieldRerun, self.isStale else { return }
    self.withMachine { $0.markRunsPremature(cause) }
    self.runForSubscribersIfStale(mode: .enqueued, origin: RunOrigin(cause))
  }

  /// Runs a stale operation again for the subscribers, unless it is running.
  func rerunIfStale(_ cause: OperationRunCause) {
    guard self.subscriberCount > 0, self.canYieldRerun else { return }
    self.runForSubscribersIfStale(mode: .enqueued, origin: RunOrigin(cause))
  }

  /// The condition that became true while a run was under way.
  var causeOfPrematureRun: OperationRunCause {
    self.withMachine { $0.extras?.content.prematurity?.cause } ?? .condition("a condition")
  }

  /// Reruns a stale operation for the subscribers each time the specification of automatic running becomes satisfied.
  ///
  /// - Returns: The subscription to the specification; nil when the specification never changes, or when the operation
  ///   never runs automatically.
  func followAutomaticRunning(in context: OperationContext) -> OperationSubscription? {
    guard let specification = context.changingAutomaticRunningSpecification, self.operation.allowsAutomaticRuns else {
      return nil
    }
    return self.follow(specification)
  }

  private func follow(_ specification: some OperationRunSpecification & Sendable) -> OperationSubscription {
    specification.subscribeToRises(
      in: { self.context },
      onRise: { self.rerunIfStale(.condition(specification.waitReason)) }
    )
  }
}

extension StoreMachine {
  /// Finds a run that refreshes the value for the subscribers, and makes them an owner of it.
  ///
  /// - Returns: Whether the subscribers need no new run, because they own a run that refreshes the value, or because
  ///   the invalidated store will run again when the earlier runs have ended.
  mutating func findRunForSubscribers() -> Bool {
    let ownsRun = self.subscriberRuns.contains { sharedRun in
      if let index = self.index(ofRun: sharedRun.id) { return self.canRefresh(self.runs[index]) }
      return sharedRun.isAlive && self.reservedTasks.contains { $0.id == sharedRun.id }
    }
    if ownsRun { return true }
    for run in self.runs.reversed() where self.canRefresh(run) && run.task.sharedRun.addOwner() {
      self.subscriberRuns.append(run.task.sharedRun)
      return true
    }
    // A run that is about to start counts as well as a run under way.
    for task in self.reservedTasks.reversed() where self.state.isReplaced(by: task) && task.sharedRun.addOwner() {
      self.subscriberRuns.append(task.sharedRun)
      return true
    }
    // These runs began before the invalidation. The rerun starts when they have finished.
    if self.isInvalidated, !self.runsBeforeInvalidation.isEmpty {
      self.needsRerun = true
      return true
    }
    return false
  }

  /// Makes the subscribers an owner of a run that has committed a value and goes on, unless they own one that refreshes the value:
  /// it lasts as long as it has subscribers, and its value may be fresh, so that a subscriber who comes needs no other run.
  ///
  /// Called in one step with the coming of a subscriber. Otherwise the run would end if its last caller left meanwhile.
  ///
  /// - Returns: The run that the subscribers own from now on; nil if there is none.
  mutating func joinLastingRun() -> SharedRun? {
    let ownsRun = self.subscriberRuns.contains { owned in
      self.index(ofRun: owned.id).map { self.canRefresh(self.runs[$0]) } ?? false
    }
    if ownsRun { return nil }
    for run in self.runs.reversed()
    where run.lastCommit != nil && self.canRefresh(run) && run.task.sharedRun.addOwner() {
      self.subscriberRuns.append(run.task.sharedRun)
      return run.task.sharedRun
    }
    return nil
  }

  /// Notes what a run had seen that refreshes the store although the client has removed it.
  func noteEndAfterRemoval(of id: OperationTaskIdentifier) {
    guard let index = self.index(ofRun: id), self.state.isReplaced(by: self.runs[index].task) else { return }
    let run = self.runs[index]
    run.task.sharedRun.epochAfterRemoval.store(run.epoch.rawValue, ordering: .releasing)
  }

  /// Marks the runs under way as premature: a condition of the operation became true after they started.
  mutating func markRunsPremature(_ cause: OperationRunCause) {
    for index in self.runs.indices { self.runs[index].noteCondition() }
    let hasRuns = !self.runs.isEmpty
    if hasRuns != self.hasPrematureRuns { self.hasPrematureRuns = hasRuns }
    // The replaced condition holds no value of a user.
    if hasRuns { self.uniqueExtras().content.prematurity = RunOrigin(cause) }
  }

  /// Whether a finishing run has failed, perhaps because a condition became true only after it started.
  mutating func failsPrematurely(
    _ id: OperationTaskIdentifier,
    with outcome: RunOutcome,
    isCancelled: Bool
  ) -> Bool {
    if self.runs.count <= 1 { self.hasPrematureRuns = false }
    guard !isCancelled, !outcome.isSuccess, let index = self.index(ofRun: id) else { return false }
    return self.runs[index].isShown && self.runs[index].isPremature
  }
}

// MARK: - Early refreshes

extension StoreReference {
  /// Starts a run without a caller, unless a run under way refreshes the whole value.
  ///
  /// The state owns the run, which goes on until it ends or is cancelled for all.
  ///
  /// - Parameter cause: Why the value is refreshed.
  /// - Returns: The context of the run; nil if the client has stopped automatic runs or removed the store, or if the
  ///   store is gone.
  @discardableResult
  public func refreshBehind(because cause: OperationRunCause) -> OperationContext? {
    self.runtime?.refreshBehind(because: cause)
  }
}

extension StoreRuntime {
  /// Starts a run without a caller: see ``StoreReference/refreshBehind(because:)``.
  @discardableResult
  package func refreshBehind(because cause: OperationRunCause) -> OperationContext? {
    var context = self.context
    context.run.origin = RunOrigin(cause)
    let (task, running) = self.withMachine { machine -> (ErasedTask?, OperationContext?) in
      if let running = machine.runToJoin { return (nil, machine.context(of: running)) }
      if context.automaticRunsAreStopped || self.isOver { return (nil, nil) }
      var task = ErasedTask(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
      task.enterRun(of: self.reference)
      machine.reservedTasks.append(task)
      return (task, task.context)
    }
    if let task { self.act { task.sharedRun.start(in: task.context, mode: .enqueued) } }
    return running
  }

  /// The context of a run that is under way, or about to start.
  func context(of run: SharedRun) -> OperationContext? { self.withMachine { $0.context(of: run) } }
}

extension StoreMachine {
  func context(of run: SharedRun) -> OperationContext? {
    if let index = self.index(ofRun: run.id) { return self.runs[index].task.context }
    return self.reservedTasks.first { $0.id == run.id }?.context
  }
}

// MARK: - Invalidation

extension StoreRuntime {
  /// Marks the value as stale, regardless of the staleness rules, until a run that starts from now on has succeeded.
  ///
  /// - Parameter record: The origin of the invalidation, for readers of events and explanations.
  /// - Returns: The number of the invalidation.
  @discardableResult
  package func invalidate(_ record: InvalidationRecord) -> Int {
    let number = InvalidationNumber.next()
    // With concurrent invalidations the greatest number wins.
    _ = self.lastInvalidation.max(number, ordering: .acquiringAndReleasing)
    let observers = self.withMachine { machine, released -> [any StoreValueObserver] in
      released.append(machine.invalidate(number, record))
      if self.isWatched(.writes) {
        self.queue(.invalidated, by: OperationRunCause(.invalidation(record)), &machine)
      }
      return self.showsValues ? self.show(.invalidation, &machine, &released) : []
    }
    self.settle(observers)
    if self.isWatched(.writes) { self.deliver() }
    for level in self.context.storeLevels { level.storeWasInvalidated() }
    return number
  }

  /// Notes that the value that has arrived was made before an invalidation of it.
  package func noteMissedInvalidation() {
    let number = InvalidationNumber.next()
    self.withMachine { machine in
      // With concurrent invalidations the greatest number wins.
      let missed = max(number, machine.uniqueExtras().content.missedInvalidation)
      machine.uniqueExtras().content.missedInvalidation = missed
    }
  }

  /// Whether a value that was made before an invalidation has arrived since this number was the latest.
  func hasMissedInvalidation(since number: Int) -> Bool {
    // Usually nothing was invalidated since. Many callers that resume at once would wait for the lock.
    guard InvalidationNumber.latest > number else { return false }
    return self.withMachine { ($0.extras?.content.missedInvalidation ?? 0) > number }
  }

  /// Whether a caller that has joined a run needs another one: a value that was made before an invalidation has arrived since this
  /// number was the latest.
  ///
  /// A caller that has joined the run of such a value may have called after the invalidation. No invalidation reaches a store
  /// that was removed. What its run has missed is not known then, so that anything invalidated before the call counts. A run
  /// that is a mutation or brings one page counts as complete: made again, it would have another effect.
  ///
  /// - Parameters:
  ///   - number: The number of the last invalidation of any store when the caller came.
  ///   - run: The run that it has joined.
  ///   - context: The context of the caller, with which it would have made the run.
  /// - Returns: Whether the caller needs another run.
  func hasMissedInvalidation(
    since number: Int,
    of run: SharedRun,
    in context: @autoclosure () -> OperationContext
  ) -> Bool {
    let epoch = self.isOver ? run.epochAfterRemoval.load(ordering: .acquiring) : .max
    if epoch != .max { return epoch < number }
    guard self.hasMissedInvalidation(since: number), self.operation.allowsAutomaticRuns else { return false }
    let task = ErasedTask(sharedRun: run, context: context())
    return self.withMachine { $0.state.isReplaced(by: task) }
  }

  /// Runs an invalidated operation again for the subscribers: now, or when the runs that started earlier have finished.
  package func rerunAfterInvalidation(isEnqueued: Bool) {
    guard self.canYieldRerun, self.withMachine({ $0.isInvalidated }) else { return }
    self.runForSubscribers(mode: isEnqueued ? .enqueued : .immediate, origin: self.originOfRerun)
  }

  /// Starts the pending rerun if no run from before the invalidation is left.
  func rerunIfDue() {
    let isDue = self.withMachine { machine in
      guard machine.needsRerun, machine.runsBeforeInvalidation.isEmpty else { return false }
      machine.needsRerun = false
      return machine.isInvalidated
    }
    if isDue, self.canYieldRerun { self.runForSubscribers(mode: .enqueued, origin: self.originOfRerun) }
  }

  /// The last invalidation, as the origin of a run.
  private var originOfRerun: RunOrigin {
    let record = self.withMachine { $0.extras?.content.invalidation }
    return RunOrigin(record.map { OperationRunCause(.invalidation($0)) } ?? OperationRunCause(.invalidation))
  }

  /// Waits until the runs that an invalidation caused have finished, or the current task is cancelled.
  package func settled(afterInvalidation number: Int) async {
    while let sharedRun = self.withMachine({ $0.runToAwait(afterInvalidation: number) }),
      !Task.isCancelled
    {
      await sharedRun.settled()
    }
  }
}

extension StoreRuntime {
  /// Waits until no run is under way, or about to start, that refreshes the value, or the current task is cancelled.
  package func refreshed() async {
    while let sharedRun = self.withMachine({ $0.runToJoin ?? $0.finishingRuns.first }), !Task.isCancelled {
      await sharedRun.settled()
    }
  }
}

extension StoreMachine {
  /// The next run to wait for until the reruns of an invalidation have finished; nil when they have finished.
  fileprivate func runToAwait(afterInvalidation number: Int) -> SharedRun? {
    if self.needsRerun, let run = self.runsBeforeInvalidation.first { return run.task.sharedRun }
    if self.answeredInvalidations >= number { return self.finishingRuns.first }
    return self.subscriberRuns.first ?? self.finishingRuns.first
  }
}

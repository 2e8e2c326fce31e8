/// The state machine of a ``SharedRun``, guarded by its lock.
///
/// Its methods call no other code. They return actions for the caller to perform after unlocking.
///
/// It cannot be copied, because it was copied into the lock of each run.
struct SharedRunState: ~Copyable, Sendable {
  enum Phase: Sendable {
    case notStarted
    case executing
    /// The work has ended, and the delegate is being notified. The outcome is stored afterwards.
    case finishing
    case finished
  }

  var phase = Phase.notStarted
  var isCancelled = false
  /// The number of owners: waiters that keep the run alive, and callers of ``addOwner()``.
  var ownerCount = 0
  /// The waiters that own the run.
  var waiters = WaiterTable()
  /// The waiters that do not own the run.
  var onlookers = WaiterTable()
  var task: RunTask?
  /// The raw value of the highest priority that the run was raised to. (Raw: the compiler does not know the layout of
  /// `TaskPriority`, so copying a value with one inside looks its type up.)
  var priority: UInt8 = 0
  var dependencies: TaskDependencies?
  /// Whether another run was ever made to wait for this one.
  var isPrerequisite = false
  /// Whether a run that has started still accepts dependencies: true while the delegate may edit the task.
  var isStarting = false
  /// The outcome; nil until the run has finished, and never changed after that.
  var outcome: RunOutcome?
  /// If this run transforms the outcome of another run: the other run, until this one finishes. Nil for other runs.
  var source: TaskLink?
  /// The delegate; nil after the finish, because a state that keeps finished tasks must not keep their store alive.
  var delegate: (any RunDelegate)?

  init(delegate: any RunDelegate, source: TaskLink?, ownerCount: Int) {
    self.delegate = delegate
    self.source = source
    self.ownerCount = ownerCount
  }

  /// Whether a waiter has left before it was suspended.
  var hasEarlyLeavers: Bool { self.waiters.hasEarlyLeavers || self.onlookers.hasEarlyLeavers }
}

// MARK: - Waiting

extension SharedRunState {
  /// Whether the run accepts new owners: until it is cancelled or its work has ended.
  var isAlive: Bool { (self.phase == .notStarted || self.phase == .executing) && !self.isCancelled }

  /// Adds a waiter.
  ///
  /// - Parameters:
  ///   - isOwner: Whether the waiter keeps the run alive.
  ///   - isAlreadyOwner: Whether the waiter is counted as an owner already.
  /// - Returns: The identifier of the waiter; nil when the run has finished.
  mutating func addWaiter(isOwner: Bool, isAlreadyOwner: Bool) -> WaiterTable.WaiterID? {
    if self.phase == .finished { return nil }
    if isOwner, !isAlreadyOwner { self.ownerCount += 1 }
    return isOwner ? self.waiters.join() : self.onlookers.join()
  }

  /// Suspends a waiter and returns nil, unless the waiter has left (false) or the run has finished (true).
  mutating func suspend(
    _ continuation: WaiterTable.Continuation,
    at waiterID: WaiterTable.WaiterID,
    isOwner: Bool
  ) -> Bool? {
    let isFinished = self.phase == .finished
    return if isOwner {
      self.waiters.suspend(continuation, at: waiterID, isFinished: isFinished)
    } else {
      self.onlookers.suspend(continuation, at: waiterID, isFinished: isFinished)
    }
  }

  /// Removes a waiter, and with it an owner if the waiter is one.
  ///
  /// - Parameters:
  ///   - waiterID: The identifier of the waiter.
  ///   - isOwner: Whether the waiter keeps the run alive.
  ///   - mayLeave: Whether the waiter can return without the outcome. If not, it waits, but is no longer an owner.
  ///   - lastStays: Whether the last owner waits for the outcome.
  /// - Returns: The cancellation to perform, nil unless this cancelled the run, and the continuation to resume, nil if
  ///   there is none.
  mutating func leave(
    _ waiterID: WaiterTable.WaiterID,
    isOwner: Bool,
    mayLeave: Bool,
    lastStays: Bool
  ) -> (cancellation: CancellationEffects?, continuation: WaiterTable.Continuation?) {
    if self.phase == .finished { return (nil, nil) }
    let cancellation = isOwner ? self.removeOwner() : nil
    guard mayLeave, !isOwner || self.ownerCount > 0 || !lastStays else { return (cancellation, nil) }
    return (cancellation, isOwner ? self.waiters.leave(waiterID) : self.onlookers.leave(waiterID))
  }
}

// MARK: - Owning and cancelling

extension SharedRunState {
  /// The actions of a caller that has cancelled the run.
  struct CancellationEffects: Sendable {
    /// The task to cancel; nil when the run has none yet.
    let task: RunTask?
    /// The delegate to notify; nil when the run had not started.
    let delegate: (any RunDelegate)?
  }

  /// False when the run is cancelled or its work has ended.
  mutating func addOwner() -> Bool {
    guard self.isAlive else { return false }
    self.ownerCount += 1
    return true
  }

  mutating func removeOwner() -> CancellationEffects? {
    self.ownerCount -= 1
    return self.ownerCount == 0 ? self.cancel() : nil
  }

  mutating func cancel() -> CancellationEffects? {
    guard !self.isCancelled else { return nil }
    switch self.phase {
    case .notStarted:
      self.isCancelled = true
      return CancellationEffects(task: nil, delegate: nil)
    case .executing:
      self.isCancelled = true
      return CancellationEffects(task: self.task, delegate: self.delegate)
    case .finishing, .finished:
      return nil
    }
  }

  /// Returns the task whose priority the caller has to raise; nil if there is nothing to raise.
  mutating func raise(to priority: UInt8) -> RunTask? {
    guard priority > self.priority else { return nil }
    self.priority = priority
    return self.task
  }
}

// MARK: - Running

extension SharedRunState {
  enum Start: Sendable {
    case alreadyStarted
    case allowed
    /// The run was cancelled before it started.
    case cancelled
  }

  mutating func start() -> Start {
    guard self.phase == .notStarted else { return .alreadyStarted }
    self.phase = .executing
    self.isStarting = true
    return self.isCancelled ? .cancelled : .allowed
  }

  /// Called in the task of the run, which is `current`. Returns the cancellation and the priority that came before the
  /// task.
  mutating func taskStarted(_ current: RunTask) -> (isCancelled: Bool, priority: UInt8, dependencies: [TaskDependency]?)
  {
    self.isStarting = false
    self.task = current
    return (self.isCancelled, self.priority, self.dependencies?.all)
  }

  /// Sets an enqueued task, which may not have begun. Returns the priority of the run; nil when the work has ended.
  mutating func attach(_ handle: Task<Void, Never>) -> UInt8? {
    guard self.phase == .executing else { return nil }
    self.task = RunTask(handle)
    return self.priority
  }

  /// Adds a dependency, unless the run has started and the delegate can no longer edit its task.
  mutating func insert(_ dependency: TaskDependency) {
    switch self.phase {
    case .executing where self.isStarting, .notStarted:
      if self.dependencies == nil { self.dependencies = TaskDependencies() }
      self.dependencies?.insert(dependency)
    case .executing, .finishing, .finished: break
    }
  }

  /// The waiters and references of a finished run, resumed and released after unlocking.
  struct CompletionEffects: Sendable {
    let waiters: SuspendedWaiters
    let onlookers: SuspendedWaiters
    let task: RunTask?
    let delegate: (any RunDelegate)?
    let links: Links?

    /// References that few runs have, in one object: releasing an existential has a cost even when it is empty.
    final class Links: Sendable {
      let source: TaskLink?
      let dependencies: TaskDependencies?

      init(source: TaskLink?, dependencies: TaskDependencies?) {
        self.source = source
        self.dependencies = dependencies
      }
    }

    /// Resumes the waiters and releases the references.
    consuming func end() {
      self.waiters.resume(returning: true)
      self.onlookers.resume(returning: true)
    }
  }

  mutating func finish(with outcome: RunOutcome) -> CompletionEffects {
    var links: CompletionEffects.Links?
    if self.source != nil || self.dependencies != nil {
      links = CompletionEffects.Links(source: self.source.take(), dependencies: self.dependencies.take())
    }
    self.phase = .finished
    self.outcome = outcome
    return CompletionEffects(
      waiters: self.waiters.removeAll(),
      onlookers: self.onlookers.removeAll(),
      task: self.task.take(),
      delegate: self.delegate.take(),
      links: links
    )
  }
}

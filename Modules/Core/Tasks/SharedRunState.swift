/// What a ``SharedRun`` decides by, under its lock. It calls nobody: what is to be done is returned.
///
/// It knows nothing of outcomes, so that it is the same for runs of all types.
@usableFromInline
struct SharedRunState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    case notStarted
    case executing
    /// The outcome is settled, and the delegate is told.
    case finishing
    case finished
  }

  @usableFromInline var phase = Phase.notStarted
  @usableFromInline var isCancelled = false
  /// How many who count hold on to the run: waiters, and holds.
  @usableFromInline var ownerCount = 0
  @usableFromInline var waiters = WaiterTable()
  @usableFromInline var task: RunTask?
  /// The raw value of the highest priority among those who count. (The layout of `TaskPriority` is not known to compilers,
  /// so what holds one is copied by looking it up.)
  @usableFromInline var priority: UInt8 = 0
  @usableFromInline var dependencies: TaskDependencies?
  @usableFromInline var isPrerequisite = false
  /// While the delegate may still edit the task: what that is scheduled after counts.
  @usableFromInline var isStarting = false
  /// The run whose outcome this one transforms, if it does; let go at the end.
  @usableFromInline var source: (any TaskLinking)?

  @inlinable
  init() {}
}

// MARK: - Waiting

extension SharedRunState {
  /// Whether somebody may still hold on to the run, so that it goes on.
  @inlinable
  var isAlive: Bool { (self.phase == .notStarted || self.phase == .executing) && !self.isCancelled }

  /// Takes in one who waits; nil when the run is over.
  ///
  /// - Parameter isHeld: Whether it is among the owners already, where it counts.
  @usableFromInline
  mutating func addWaiter(isOwner: Bool, isAlreadyOwner: Bool) -> WaiterTable.WaiterID? {
    if self.phase == .finished { return nil }
    if isOwner, !isAlreadyOwner { self.ownerCount += 1 }
    return self.waiters.join()
  }

  /// Lets one who waits suspend. Otherwise returns whether the run has finished; false means that the waiter has left.
  @usableFromInline
  mutating func suspend(_ continuation: WaiterTable.Continuation, at waiterID: WaiterTable.WaiterID) -> Bool? {
    if self.phase == .finished { return true }
    guard case .left = self.waiters[waiterID] else {
      self.waiters[waiterID] = .suspended(continuation)
      return nil
    }
    self.waiters.vacate(waiterID)
    return false
  }

  /// Lets one who waits leave.
  ///
  /// - Parameter mayLeave: Whether it can be told that it has left; otherwise it waits for the end, but no longer counts.
  /// - Returns: The end of the run that this means, and who is to be resumed.
  @usableFromInline
  mutating func leave(
    _ waiterID: WaiterTable.WaiterID,
    isOwner: Bool,
    mayLeave: Bool,
    lastStays: Bool
  ) -> (cancellation: CancellationEffects?, continuation: WaiterTable.Continuation?) {
    if self.phase == .finished { return (nil, nil) }
    let cancellation = isOwner ? self.removeOwner() : nil
    guard mayLeave, !isOwner || self.ownerCount > 0 || !lastStays else { return (cancellation, nil) }
    switch self.waiters[waiterID] {
    case .suspended(let continuation):
      self.waiters.vacate(waiterID)
      return (cancellation, continuation)
    case .arriving:
      self.waiters[waiterID] = .left
      return (cancellation, nil)
    case .left, .vacant:
      return (cancellation, nil)
    }
  }
}

// MARK: - Holding and cancelling

extension SharedRunState {
  /// What is to be cancelled.
  @usableFromInline
  struct CancellationEffects: Sendable {
    @usableFromInline let task: RunTask?
    /// Whether the run had begun, so that its delegate is to be told.
    @usableFromInline let hadBegun: Bool
  }

  /// False when the run is dying or over.
  @usableFromInline
  mutating func addOwner() -> Bool {
    guard self.isAlive else { return false }
    self.ownerCount += 1
    return true
  }

  @usableFromInline
  mutating func removeOwner() -> CancellationEffects? {
    self.ownerCount -= 1
    return self.ownerCount == 0 ? self.cancel() : nil
  }

  @usableFromInline
  mutating func cancel() -> CancellationEffects? {
    guard !self.isCancelled else { return nil }
    switch self.phase {
    case .notStarted:
      self.isCancelled = true
      return CancellationEffects(task: nil, hadBegun: false)
    case .executing:
      self.isCancelled = true
      return CancellationEffects(task: self.task, hadBegun: true)
    case .finishing, .finished:
      return nil
    }
  }

  /// Returns the task whose priority is to be raised.
  @inlinable
  mutating func raise(to priority: UInt8) -> RunTask? {
    guard priority > self.priority else { return nil }
    self.priority = priority
    return self.task
  }
}

// MARK: - Running

extension SharedRunState {
  @usableFromInline
  enum Start: Sendable {
    case alreadyStarted
    case allowed
    /// Cancelled before it began.
    case cancelled
  }

  @usableFromInline
  mutating func begin() -> Start {
    guard self.phase == .notStarted else { return .alreadyStarted }
    self.phase = .executing
    self.isStarting = true
    return self.isCancelled ? .cancelled : .allowed
  }

  /// The task is running, where `current` reaches it.
  @usableFromInline
  mutating func taskStarted(_ current: RunTask) -> (isCancelled: Bool, priority: UInt8, dependencies: [TaskDependency]?)
  {
    self.isStarting = false
    self.task = current
    return (self.isCancelled, self.priority, self.dependencies?.all)
  }

  /// Lets others reach a task that may not run yet, and returns the priority that the run should have; nil when it is
  /// over.
  mutating func attach(_ handle: Task<Void, Never>) -> UInt8? {
    guard self.phase == .executing else { return nil }
    self.task = RunTask(handle)
    return self.priority
  }

  mutating func insert(_ dependency: TaskDependency) {
    switch self.phase {
    case .executing where self.isStarting, .notStarted:
      if self.dependencies == nil { self.dependencies = TaskDependencies() }
      self.dependencies?.insert(dependency)
    case .executing, .finishing, .finished: break
    }
  }

  /// What a run that is over lets go of, when no lock is held.
  @usableFromInline
  struct CompletionEffects: Sendable {
    let waiters: SuspendedWaiters
    let task: RunTask?
    let links: Links?

    /// What few runs have, in one object: even an empty existential costs something to let go of.
    final class Links: Sendable {
      let source: (any TaskLinking)?
      let dependencies: TaskDependencies?

      init(source: (any TaskLinking)?, dependencies: TaskDependencies?) {
        self.source = source
        self.dependencies = dependencies
      }
    }

    /// Resumes those who wait, and lets go of the rest.
    @usableFromInline
    consuming func end() {
      self.waiters.resume()
    }
  }

  @usableFromInline
  mutating func finish() -> CompletionEffects {
    var links: CompletionEffects.Links?
    if self.source != nil || self.dependencies != nil {
      links = CompletionEffects.Links(source: self.source.take(), dependencies: self.dependencies.take())
    }
    self.phase = .finished
    return CompletionEffects(waiters: self.waiters.removeAll(), task: self.task.take(), links: links)
  }
}

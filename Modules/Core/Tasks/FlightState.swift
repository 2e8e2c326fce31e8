/// What a ``Flight`` decides by, under its lock. It calls nobody: what is to be done is returned.
///
/// It knows nothing of outcomes, so that it is the same for flights of all types.
@usableFromInline
struct FlightState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    case grounded
    case flying
    /// The outcome is settled, and the pilot is told.
    case landing
    case landed
  }

  @usableFromInline var phase = Phase.grounded
  @usableFromInline var isCancelled = false
  /// How many who count hold on to the flight: waiters, and holds.
  @usableFromInline var holders = 0
  @usableFromInline var waiters = WaiterTable()
  @usableFromInline var task: FlightTask?
  /// The raw value of the highest priority among those who count. (The layout of `TaskPriority` is not known to compilers,
  /// so what holds one is copied by looking it up.)
  @usableFromInline var priority: UInt8 = 0
  @usableFromInline var dependencies: TaskDependencies?
  @usableFromInline var isPrerequisite = false
  /// While the pilot may still edit the task: what that is scheduled after counts.
  @usableFromInline var isDeparting = false
  /// The flight whose outcome this one transforms, if it does; let go at the end.
  @usableFromInline var source: (any TaskLinking)?

  @inlinable
  init() {}
}

// MARK: - Waiting

extension FlightState {
  /// Whether somebody may still hold on to the flight, so that it goes on.
  @inlinable
  var isAlive: Bool { (self.phase == .grounded || self.phase == .flying) && !self.isCancelled }

  /// Takes in one who waits; nil when the flight is over.
  ///
  /// - Parameter isHeld: Whether it is among the holders already, where it counts.
  @usableFromInline
  mutating func board(counts: Bool, isHeld: Bool) -> WaiterTable.Seat? {
    if self.phase == .landed { return nil }
    if counts, !isHeld { self.holders += 1 }
    return self.waiters.join()
  }

  /// Lets one who waits suspend. Otherwise returns whether the flight has landed; false means that the waiter has left.
  @usableFromInline
  mutating func suspend(_ continuation: WaiterTable.Continuation, at seat: WaiterTable.Seat) -> Bool? {
    if self.phase == .landed { return true }
    guard case .departed = self.waiters[seat] else {
      self.waiters[seat] = .suspended(continuation)
      return nil
    }
    self.waiters.vacate(seat)
    return false
  }

  /// Lets one who waits leave.
  ///
  /// - Parameter mayLeave: Whether it can be told that it has left; otherwise it waits for the end, but no longer counts.
  /// - Returns: The end of the flight that this means, and who is to be resumed.
  @usableFromInline
  mutating func leave(
    _ seat: WaiterTable.Seat,
    counts: Bool,
    mayLeave: Bool,
    lastStays: Bool
  ) -> (death: Death?, continuation: WaiterTable.Continuation?) {
    if self.phase == .landed { return (nil, nil) }
    let death = counts ? self.release() : nil
    guard mayLeave, !counts || self.holders > 0 || !lastStays else { return (death, nil) }
    switch self.waiters[seat] {
    case .suspended(let continuation):
      self.waiters.vacate(seat)
      return (death, continuation)
    case .arriving:
      self.waiters[seat] = .departed
      return (death, nil)
    case .departed, .vacant:
      return (death, nil)
    }
  }
}

// MARK: - Holding and cancelling

extension FlightState {
  /// What is to be cancelled.
  @usableFromInline
  struct Death: Sendable {
    @usableFromInline let task: FlightTask?
    /// Whether the flight had begun, so that its pilot is to be told.
    @usableFromInline let hadBegun: Bool
  }

  /// False when the flight is dying or over.
  @usableFromInline
  mutating func hold() -> Bool {
    guard self.isAlive else { return false }
    self.holders += 1
    return true
  }

  @usableFromInline
  mutating func release() -> Death? {
    self.holders -= 1
    return self.holders == 0 ? self.cancel() : nil
  }

  @usableFromInline
  mutating func cancel() -> Death? {
    guard !self.isCancelled else { return nil }
    switch self.phase {
    case .grounded:
      self.isCancelled = true
      return Death(task: nil, hadBegun: false)
    case .flying:
      self.isCancelled = true
      return Death(task: self.task, hadBegun: true)
    case .landing, .landed:
      return nil
    }
  }

  /// Returns the task whose priority is to be raised.
  @inlinable
  mutating func raise(to priority: UInt8) -> FlightTask? {
    guard priority > self.priority else { return nil }
    self.priority = priority
    return self.task
  }
}

// MARK: - Flying

extension FlightState {
  @usableFromInline
  enum Start: Sendable {
    case underWay
    case due
    /// Cancelled before it began.
    case cancelled
  }

  @usableFromInline
  mutating func begin() -> Start {
    guard self.phase == .grounded else { return .underWay }
    self.phase = .flying
    self.isDeparting = true
    return self.isCancelled ? .cancelled : .due
  }

  /// The task is running, where `current` reaches it.
  @usableFromInline
  mutating func takeOff(_ current: FlightTask) -> (isCancelled: Bool, priority: UInt8, dependencies: [TaskDependency]?)
  {
    self.isDeparting = false
    self.task = current
    return (self.isCancelled, self.priority, self.dependencies?.all)
  }

  /// Lets others reach a task that may not run yet, and returns the priority that the flight should have; nil when it is
  /// over.
  mutating func attach(_ handle: Task<Void, Never>) -> UInt8? {
    guard self.phase == .flying else { return nil }
    self.task = FlightTask(handle)
    return self.priority
  }

  mutating func insert(_ dependency: TaskDependency) {
    switch self.phase {
    case .flying where self.isDeparting, .grounded:
      if self.dependencies == nil { self.dependencies = TaskDependencies() }
      self.dependencies?.insert(dependency)
    case .flying, .landing, .landed: break
    }
  }

  /// What a flight that is over lets go of, when no lock is held.
  @usableFromInline
  struct Remains: Sendable {
    let waiters: SuspendedWaiters
    let task: FlightTask?
    let links: Links?

    /// What few flights have, in one object: even an empty existential costs something to let go of.
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
  mutating func land() -> Remains {
    var links: Remains.Links?
    if self.source != nil || self.dependencies != nil {
      links = Remains.Links(source: self.source.take(), dependencies: self.dependencies.take())
    }
    self.phase = .landed
    return Remains(waiters: self.waiters.removeAll(), task: self.task.take(), links: links)
  }
}

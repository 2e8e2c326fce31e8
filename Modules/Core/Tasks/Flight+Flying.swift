public import Synchronization

extension Flight {
  /// Begins the flight if nobody has.
  @usableFromInline
  package func begin(in context: OperationContext, departure: Departure = .immediate) {
    let pilot = self.withState { _ in self.pilot }
    if let pilot { self.begin(in: context, departure: departure, flownBy: pilot) }
  }

  /// Begins the flight if nobody has, with the pilot that it was made with.
  @inlinable
  package func begin<Pilot: FlightPilot>(
    in context: OperationContext,
    departure: Departure,
    flownBy pilot: Pilot
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    let start = self.withState { $0.begin() }
    if case .underWay = start { return }
    let task = OperationTask(flight: self, context: context)
    if case .due = start { return self.launch(pilot.willDepart(task).context, departure, pilot) }
    pilot.didNotStart(self)
    if !self.landCancelled() { self.launch(context, departure, pilot) }
  }

  /// Lands a flight that was cancelled before it began. False where `Failure` has no room for that.
  @inlinable
  @inline(never)
  func landCancelled() -> Bool {
    guard let outcome = Self.cancellation else { return false }
    self.land(outcome)
    return true
  }

  @inlinable
  func launch<Pilot: FlightPilot>(
    _ context: consuming OperationContext,
    _ departure: Departure,
    _ pilot: Pilot
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    let voyage = Voyage(self, context, pilot)
    let depth = ThreadLocal.depth
    guard departure == .immediate, depth.pointee < ThreadLocal.maximumDepth, !voyage.context.hasTaskConfiguration else {
      return self.launchAsConfigured(voyage, departure)
    }
    depth.pointee += 1
    self.makeTask { _ = Task.immediate { await Self.fly(voyage) } }
    depth.pointee -= 1
  }

  /// Makes the task, which knows its run where that may be shared.
  @inlinable
  func makeTask(_ make: () -> Void) {
    if let carriage = self.carriage { EnclosingRun.makeTask(of: carriage, make) } else { make() }
  }

  // Not inlined: few tasks are configured.
  @usableFromInline
  func launchAsConfigured<Pilot: FlightPilot>(
    _ voyage: Voyage<Pilot>,
    _ departure: Departure
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    let depth = ThreadLocal.depth
    let configuration = voyage.context.operationTaskConfiguration
    guard departure == .immediate, depth.pointee < ThreadLocal.maximumDepth,
      configuration.priority == nil, configuration.executorPreference == nil
    else {
      return self.enqueue(voyage, configuration)
    }
    depth.pointee += 1
    self.makeTask { _ = Task.immediate(name: configuration.name) { await Self.fly(voyage) } }
    depth.pointee -= 1
  }

  private func enqueue<Pilot: FlightPilot>(
    _ voyage: Voyage<Pilot>,
    _ configuration: OperationTaskConfiguration
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    self.withState { $0.isDeparting = false }
    self.makeTask {
      let handle = Task(
        name: configuration.name,
        executorPreference: configuration.executorPreference,
        priority: configuration.priority
      ) { await Self.fly(voyage) }
      let priority = self.withState { $0.attach(handle) }
      // Those are made up for who boarded before there was a task to raise, which may be long before this one begins.
      if let priority, let own = configuration.rawPriority, priority > own {
        handle.escalatePriority(to: TaskPriority(rawValue: priority))
      }
    }
  }

  @inlinable
  @inline(__always)
  static nonisolated(nonsending) func fly<Pilot: FlightPilot>(
    _ voyage: Voyage<Pilot>
  ) async where Pilot.Success == Success, Pilot.Failure == Failure {
    let flight = voyage.flight
    if let dependencies = flight.takeOff() {
      await TaskDependency.settle(dependencies)
      if Task.isCancelled, let cancellation = Self.cancellation {
        voyage.pilot.didNotStart(flight)
        return flight.land(cancellation, of: voyage.task, voyage.pilot)
      }
    }
    flight.land(await voyage.pilot.fly(voyage), of: voyage.task, voyage.pilot)
  }

  /// Makes the current task the one of the flight, and returns what that waits for; nil where the work can begin.
  @usableFromInline
  func takeOff() -> [TaskDependency]? {
    let current = FlightTask.current
    if let carriage = self.carriage { carriage.task.store(current.name, ordering: .relaxed) }
    let (isCancelled, priority, dependencies) = self.withState { $0.takeOff(current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    // Cancelled by now, the work does not begin.
    return isCancelled ? dependencies ?? [] : dependencies
  }

  @inlinable
  func land<Pilot: FlightPilot>(
    _ outcome: Outcome,
    of task: consuming OperationTask<Success, Failure>,
    _ pilot: Pilot
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    if let carriage = self.carriage { carriage.task.store(0, ordering: .relaxed) }
    let isCancelled = self.withState { state -> Bool? in
      guard state.phase == .flying else { return nil }
      state.phase = .landing
      return state.isCancelled
    }
    // It has landed when it was cancelled, if its task had a passenger.
    guard let isCancelled else { return }
    pilot.didLand(task, with: outcome, isCancelled: isCancelled)
    self.land(outcome)
  }

  @inlinable
  func land(_ outcome: Outcome) {
    let box = Self.box(outcome)
    // Not returned: what a lock returns has its type looked up, where that is not known to the compiler.
    var pilot: (any FlightPilot<Success, Failure>)?
    let remains = self.withState { state in
      self.settledOutcome = box
      pilot = self.pilot
      self.pilot = nil
      self.isOver.store(true, ordering: .releasing)
      return state.land()
    }
    remains.end()
    _ = consume pilot  // Released after the lock.
  }
}

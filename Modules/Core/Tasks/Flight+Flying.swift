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
    if case .due = start { return self.launch(pilot.willDepart(task), departure, pilot) }
    if let outcome = Self.cancellation { self.land(outcome) } else { self.launch(task, departure, pilot) }
  }

  @inlinable
  func launch<Pilot: FlightPilot>(
    _ task: OperationTask<Success, Failure>,
    _ departure: Departure,
    _ pilot: Pilot
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    let depth = ThreadLocal.depth
    guard departure == .immediate, depth < ThreadLocal.maximumDepth, !task.context.hasTaskConfiguration else {
      return self.launch(task, departure, pilot, depth: depth)
    }
    ThreadLocal.depth = depth + 1
    _ = Task.immediate { await self.fly(task, pilot) }
    ThreadLocal.depth = depth
  }

  // Not inlined: few tasks are configured.
  @usableFromInline
  func launch<Pilot: FlightPilot>(
    _ task: OperationTask<Success, Failure>,
    _ departure: Departure,
    _ pilot: Pilot,
    depth: Int
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    let configuration = task.context.operationTaskConfiguration
    guard departure == .immediate, depth < ThreadLocal.maximumDepth,
      configuration.priority == nil, configuration.executorPreference == nil
    else {
      return self.enqueue(task, configuration, pilot)
    }
    ThreadLocal.depth = depth + 1
    _ = Task.immediate(name: configuration.name) { await self.fly(task, pilot) }
    ThreadLocal.depth = depth
  }

  private func enqueue<Pilot: FlightPilot>(
    _ task: OperationTask<Success, Failure>,
    _ configuration: OperationTaskConfiguration,
    _ pilot: Pilot
  ) where Pilot.Success == Success, Pilot.Failure == Failure {
    self.withState { $0.isDeparting = false }
    let handle = Task(
      name: configuration.name,
      executorPreference: configuration.executorPreference,
      priority: configuration.priority
    ) { await self.fly(task, pilot) }
    let priority = self.withState { $0.attach(handle) }
    // Those are made up for who boarded before there was a task to raise, which may be long before this one begins.
    if let priority, let own = configuration.rawPriority, priority > own {
      handle.escalatePriority(to: TaskPriority(rawValue: priority))
    }
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) func fly<Pilot: FlightPilot>(
    _ task: OperationTask<Success, Failure>,
    _ pilot: Pilot
  ) async where Pilot.Success == Success, Pilot.Failure == Failure {
    if let dependencies = self.takeOff() {
      await TaskDependency.settle(dependencies)
      if Task.isCancelled, let cancellation = Self.cancellation { return self.land(cancellation, of: task, pilot) }
    }
    self.land(await pilot.fly(task), of: task, pilot)
  }

  /// Makes the current task the one of the flight, and returns what that waits for.
  @usableFromInline
  func takeOff() -> [TaskDependency]? {
    let current = FlightTask.current
    if let carriage = self.carriage { carriage.task.store(current.name, ordering: .relaxed) }
    let (isCancelled, priority, dependencies) = self.withState { $0.takeOff(current) }
    // For those who came before there was a task to cancel or to raise.
    if isCancelled { current.cancel() }
    if priority > Task.currentPriority.rawValue { current.escalatePriority(to: priority) }
    return dependencies
  }

  @inlinable
  func land<Pilot: FlightPilot>(
    _ outcome: Outcome,
    of task: OperationTask<Success, Failure>,
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
    let (remains, pilot) = self.withState { state in
      self.settledOutcome = box
      let pilot = self.pilot.take()
      self.isOver.store(true, ordering: .releasing)
      return (state.land(), pilot)
    }
    remains.waiters.resume()
    withExtendedLifetime((remains, pilot)) {}  // Until here, after the lock.
  }
}

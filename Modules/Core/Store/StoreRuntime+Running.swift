extension StoreRuntime: FlightPilot {
  func willDepart(_ task: Task) -> Task {
    var departing = task
    departing.context.run.store = self.reference
    departing.context.run.taskIdentifier = task.id
    // The state may date the departure, and must not call a clock under the lock.
    departing.context = departing.context.stoppingClock()
    let isHeld = task.context.run.isForSubscribers && task.flight.hold()
    let (scheduled, isHoldNeeded) = self.change { [departing] machine in
      var departed = departing
      machine.depart(&departed)
      guard isHeld, machine.subscribers.count > 0 else { return (departed, false) }
      machine.heldFlights.append(task.flight)
      return (departed, true)
    }
    if isHeld, !isHoldNeeded { task.flight.release() }
    self.activityChanged()
    var departed = scheduled
    departed.context.run.frozenDate = nil
    return departed
  }

  func fly(_ task: Task) async -> Result<State.OperationValue, State.Failure> {
    self.machine.withLock { machine in
      guard machine.run(task.id)?.isShown == true else { return }
      machine.post(.runStarted, task.context, run: task.id)
    }
    self.deliver()
    let continuation = OperationContinuation<State.OperationValue, State.Failure> { result, context in
      self.yield(result, of: task, using: context)
    }
    return await self.operation.run(in: task.context, with: continuation)
  }

  func wasCancelled(_ flight: RunFlight) {
    self.change { $0.takeBack(flight.id) }
  }

  func didLand(_ task: Task, with outcome: Result<State.OperationValue, State.Failure>, isCancelled: Bool) {
    var task = task
    task.context = task.context.stoppingClock()
    task.context.run.updateReason = .returnedFinalResult
    // Whoever cancelled what the operation does inside: cancellation is not an error of the state.
    let isCancelled = isCancelled || outcome.isCancellation
    let owesRerun = self.change { machine in
      machine.land(task, with: outcome, isCancelled: isCancelled)
      return machine.owesRerun
    }
    // Before those hear of the end who wait for it: they are to find the rerun under way.
    if owesRerun { self.rerunIfDue() }
    self.activityChanged()
    self.machine.withLock { machine in machine.landingFlights.removeAll { $0.id == task.id } }
  }

  private func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext?
  ) {
    guard task.flight.isFlying else { return self.reportLateYield(of: task) }
    var task = task
    var context = task.context.overlaid(with: context)
    context.run.updateReason = .yieldedResult
    task.context = context.stoppingClock()
    self.change { $0.yield(result, of: task, using: context) }
  }

  private func reportLateYield(of task: Task) {
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        The operation at \(self.path) yielded a result after task \(task.id) had returned. The result was dropped. Yield \
        before returning: await the work that yields inside the operation.
        """
    ).report()
  }
}

extension Result {
  /// Whether this is a `CancellationError`.
  package var isCancellation: Bool {
    if case .failure(let error) = self { error is CancellationError } else { false }
  }
}

// MARK: - Asked runs

extension StoreRuntime {
  /// The context of a run: the store's, with what `context` has set over it.
  func runContext(_ context: OperationContext?) -> OperationContext {
    self.context.overlaid(with: context)
  }

  func makeTask(using context: OperationContext?) -> Task {
    Task(flight: Flight(pilot: self), context: self.runContext(context))
  }

  /// Runs the operation, or joins a run that does the same where the operation shares runs.
  func run(
    using context: OperationContext?,
    handler: OperationEventHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    let context = self.runContext(context)
    let leaving: RunFlight.Leaving = context.operationRunSharing == nil ? .lastStays : .atOnce
    if let sharing = context.operationRunSharing,
      let outcome = await self.join(context: context, sharing: sharing, handler: handler)
    {
      return outcome
    }
    let flight = RunFlight(pilot: self)
    let listener = self.listen(to: flight, with: handler)
    let outcome = await flight.outcome(in: context, leaving: leaving)
    self.dismiss(listener)
    return outcome
  }

  /// Waits for a run that is under way, whatever its context, or runs the operation.
  func runOrJoin() async -> Result<State.OperationValue, State.Failure> {
    let running = self.machine.withLock { machine in machine.runs.last { $0.isShown }?.task.flight }
    let leaving: RunFlight.Leaving = self.context.operationRunSharing == nil ? .lastStays : .atOnce
    if let outcome = await running?.outcomeIfAlive(leaving: leaving) { return outcome }
    return await self.run(using: nil, handler: nil)
  }

  private func join(
    context: OperationContext,
    sharing: OperationRunSharing,
    handler: OperationEventHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure>? {
    let tasks = self.machine.withLock { machine in machine.runs.lazy.filter(\.isShown).map(\.task) }
    for task in tasks
    where self.operation.isSameRun(in: context, as: task.context) && sharing.isSameRun(context, task.context) {
      var listener: Subscriber<State>?
      let outcome = await task.flight.outcomeIfAlive(leaving: .atOnce) {
        listener = self.listen(to: task.flight, with: handler)
      }
      self.dismiss(listener)
      if let outcome { return outcome }
    }
    return nil
  }

  private func listen(to flight: RunFlight, with handler: OperationEventHandler<State>?) -> Subscriber<State>? {
    guard let handler else { return nil }
    return self.machine.withLock { $0.subscribers.add(handler, role: .runListener(flight.id)) }
  }

  /// Lets a listener go behind all events that were posted for it.
  private func dismiss(_ listener: Subscriber<State>?) {
    guard let listener else { return }
    self.machine.withLock { $0.outbox.append(.dismissal(listener)) }
    self.deliver()
  }

  /// Waits until no run is under way, or the current task is cancelled.
  func settled() async {
    while let flight = self.machine.withLock({ $0.runs.first?.task.flight ?? $0.landingFlights.first }),
      !_Concurrency.Task.isCancelled
    {
      await flight.settled()
    }
  }

  /// Cancels all runs.
  ///
  /// - Returns: Waits until they have ended, or the current task is cancelled.
  func cancelRuns() -> @Sendable () async -> Void {
    let flights = self.machine.withLock { $0.runs.map(\.task.flight) }
    self.act { for flight in flights { flight.cancel() } }
    return { await Self.ended(flights) }
  }
}

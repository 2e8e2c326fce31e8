extension StoreRuntime: FlightPilot {
  @inlinable
  func willDepart(_ task: consuming Task) -> Task {
    var task = task
    task.context.enterRun(task.id, of: self.reference, carriage: task.flight.carriage)
    // The state may date the departure, and must not call a clock under the lock.
    if State.datesRuns { task.context.event.frozenDate = task.context.date }
    let isHeld = task.context.run.isForSubscribers && task.flight.hold()
    let departing = task
    var isHoldNeeded = false
    var news: StoreActivityNews?
    self.change(task.context, run: departing.id, replacesValue: false) { machine in
      task = departing
      let departure = machine.depart(&task)
      isHoldNeeded = isHeld && machine.subscribers.count > 0
      if isHoldNeeded { machine.heldFlights.append(task.flight) }
      news = self.activityNews(of: &machine)
      return departure
    }
    if isHeld, !isHoldNeeded { task.flight.release() }
    if let news { self.tell(news) }
    if State.datesRuns { task.context.event.frozenDate = nil }
    return task
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) func fly(
    _ voyage: Voyage<StoreRuntime<State>>
  ) async -> Result<State.OperationValue, State.Failure> {
    if self.hasDependents { self.tellOfStart(of: voyage.task) }
    let continuation = OperationContinuation<State.OperationValue, State.Failure> { result, context in
      voyage.pilot.yield(result, of: voyage.task, using: context)
    }
    return await self.operation.run(voyage.context, continuation)
  }

  @inlinable
  func tellOfStart(of task: Task) {
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let audience = self.machine.withLock { machine -> Audience<State>? in
      guard !machine.subscribers.isEmpty, machine.isShown(task.id) else { return nil }
      let start = StoreNews(turn: .started)
      return machine.audience(of: start, result: nil, task.context, run: task.id, mayDeliver: mayDeliver)
    }
    guard let audience else { return }
    audience.hear(state: nil, result: nil, turn: .started, task.context, run: task.id)
    self.endDelivery()
  }

  @inlinable
  func task(of flight: RunFlight) -> Task? {
    self.machine.withLock { machine in machine.index(ofRun: flight.id).map { machine.runs[$0].task } }
  }

  @inlinable
  func wasCancelled(_ flight: RunFlight) {
    var context = OperationContext()
    self.change(context, run: flight.id) { machine in
      if let index = machine.index(ofRun: flight.id) { context = machine.runs[index].task.context }
      return machine.takeBack(flight.id)
    }
  }

  @inlinable
  func didLand(
    _ task: consuming Task,
    with outcome: Result<State.OperationValue, State.Failure>,
    isCancelled: Bool
  ) {
    var task = task
    task.context = task.context.stoppingClock()
    task.context.event.updateReason = .returnedFinalResult
    // Whoever cancelled what the operation does inside: cancellation is not an error of the state.
    let isCancelled = isCancelled || outcome.isCancellation
    var owesRerun = false
    var hasFailedPrematurely = false
    var news: StoreActivityNews?
    var isTold = false
    self.change(task.context, run: task.id, result: outcome) { machine in
      if machine.hasPrematureRuns {
        hasFailedPrematurely = machine.failsPrematurely(task.id, with: outcome, isCancelled: isCancelled)
      }
      let landing = machine.land(task, with: outcome, isCancelled: isCancelled)
      owesRerun = machine.owesRerun
      news = self.activityNews(of: &machine)
      isTold = machine.subscribers.isEmpty && !owesRerun && news == nil
      if isTold { machine.forgetLanding(of: task.id) }
      return landing
    }
    if isTold { return }
    // Before those hear of the end who wait for it: they are to find the rerun under way.
    if owesRerun { self.rerunIfDue() }
    if hasFailedPrematurely { self.rerunIfStale() }
    if let news { self.tell(news) }
    self.machine.withLock { $0.forgetLanding(of: task.id) }
  }

  @inlinable
  func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext?
  ) {
    guard task.flight.isFlying else { return self.reportLateYield(of: task) }
    var task = task
    var context = task.context.overlaid(with: context)
    context.event.updateReason = .yieldedResult
    task.context = context.stoppingClock()
    self.change(context, run: task.id, result: result) { $0.yield(result, of: task, using: context) }
  }

  @inlinable
  func reportLateYield(of task: Task) {
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
  @inlinable
  package var isCancellation: Bool {
    if case .failure(let error) = self { error.isCancellation } else { false }
  }
}

// MARK: - Asked runs

extension StoreRuntime {
  /// The context of a run: the store's, with what `context` has set over it.
  @inlinable
  func runContext(_ context: OperationContext?) -> OperationContext {
    if let context { self.overlaidContext(context) } else { self.context }
  }

  @inlinable
  @inline(never)
  func overlaidContext(_ context: OperationContext) -> OperationContext {
    self.context.overlaid(with: context)
  }

  /// A flight that lends its task to one that it shares with others.
  @inlinable
  func makeFlight(in context: OperationContext) -> RunFlight {
    RunFlight(pilot: self, carriage: context.operationRunSharing == nil ? nil : Carriage())
  }

  @inlinable
  func makeTask(using context: OperationContext?) -> Task {
    let context = self.runContext(context)
    return Task(flight: self.makeFlight(in: context), context: context)
  }

  /// Runs the operation, or joins a run that does the same where the operation shares runs.
  @inlinable
  nonisolated(nonsending) func run(
    using context: OperationContext?,
    handler: RunHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    while true {
      // Made anew after a flight that could not be joined, as it is not kept while the caller waits.
      let context = self.runContext(context)
      guard let sharing = context.operationRunSharing else {
        return await self.fly(in: context, leaving: .lastStays, handler: handler)
      }
      guard let flight = self.flightToJoin(context, sharing) else {
        return await self.fly(in: context, leaving: .atOnce, handler: handler)
      }
      // What is dead stays so: each flight is refused once at most.
      if let outcome = await self.join(flight, in: context, handler: handler) { return outcome }
    }
  }

  /// Runs the operation.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func fly(
    in context: OperationContext,
    leaving: RunFlight.Leaving,
    handler: RunHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    let flight = self.makeFlight(in: context)
    let listener = self.listen(to: flight, with: handler)
    let outcome = await flight.outcome(in: context, leaving: leaving, flownBy: self)
    self.dismiss(listener)
    return outcome
  }

  /// Waits for a run that is under way, whatever its context, or runs the operation.
  @inlinable
  nonisolated(nonsending) func runOrJoin() async -> Result<State.OperationValue, State.Failure> {
    let running = self.machine.withLock { machine in machine.runs.last { $0.isShown }?.task.flight }
    let context = self.context
    let leaving: RunFlight.Leaving = context.operationRunSharing == nil ? .lastStays : .atOnce
    if let outcome = await running?.outcomeIfAlive(leaving: leaving, onBoard: { context.noteJoin() }) { return outcome }
    return await self.run(using: nil, handler: nil)
  }

  /// Waits for a run that is under way; nil when it is dying or over.
  @inlinable
  nonisolated(nonsending) func join(
    _ flight: RunFlight,
    in context: consuming OperationContext,
    handler: RunHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure>? {
    var listener: Subscriber<State>?
    let outcome = await flight.outcomeIfAlive(leaving: .atOnce) {
      listener = self.listen(to: flight, with: handler)
      context.noteJoin()
    }
    self.dismiss(listener)
    return outcome
  }

  /// The flight of a run that does the same and can be joined.
  @inlinable
  @inline(never)
  func flightToJoin(_ context: OperationContext, _ sharing: OperationRunSharing) -> RunFlight? {
    let runs = self.machine.withLock { $0.runs }
    for run in runs
    where run.isShown && run.task.flight.isAlive && self.operation.isSameRun(context, run.task.context)
      && sharing.isSameRun(context, run.task.context)
    {
      return run.task.flight
    }
    return nil
  }

  @inlinable
  func listen(to flight: RunFlight, with handler: RunHandler<State>?) -> Subscriber<State>? {
    handler.map { self.listen(to: flight.id, with: $0.handler) }
  }

  @inlinable
  @inline(never)
  func listen(to run: OperationTaskIdentifier, with handler: OperationEventHandler<State>) -> Subscriber<State> {
    self.noteDependent()
    return self.machine.withLock { $0.subscribers.add(handler, role: .runListener(run)) }
  }

  /// Lets a listener go behind all events that were posted for it.
  @inlinable
  func dismiss(_ listener: Subscriber<State>?) {
    if let listener { self.dismissListener(listener) }
  }

  @inlinable
  @inline(never)
  func dismissListener(_ listener: Subscriber<State>) {
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

extension StoreRuntime: FlightPilot {
  @inlinable
  func willDepart(_ task: consuming Task) -> Task {
    var task = task
    // One that was reserved has entered it then.
    if task.context.operationRunningTaskIdentifier != task.id { task.enterRun(of: self.reference) }
    // The state may date the departure, and must not call a clock under the lock.
    if State.datesRuns { task.context.event.frozenDate = task.context.date }
    let isHeld = task.context.run.isForSubscribers && task.flight.hold()
    let departing = task
    var isHoldNeeded = false
    var news: StoreActivityNews?
    var reservation: Task?
    self.change(task.context, run: departing.id, replacesValue: false) { machine in
      task = departing
      let departure = machine.depart(&task, reservation: &reservation)
      isHoldNeeded = isHeld && machine.subscribers.count > 0
      if isHoldNeeded { machine.heldFlights.append(task.flight) }
      news = self.activityNews(of: &machine)
      return departure
    }
    _ = consume reservation  // Released after the lock.
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
    // A handler that joins the run later is told of the start then.
    if self.hasDependents || voyage.flight.carriage != nil { self.tellOfStart(of: voyage.task) }
    let continuation = OperationContinuation<State.OperationValue, State.Failure> { result, context in
      voyage.pilot.yield(result, of: voyage.task, using: context)
    }
    return await self.operation.run(voyage.context, continuation)
  }

  @inlinable
  func tellOfStart(of task: Task) {
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let audience = self.machine.withLock { machine -> Audience<State>? in
      guard let index = machine.index(ofRun: task.id), machine.runs[index].isShown else { return nil }
      machine.runs[index].hasStarted = true
      if machine.subscribers.isEmpty { return nil }
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

  @usableFromInline
  func didNotStart(_ flight: RunFlight) {
    let reservation = self.machine.withLock { machine -> Task? in
      if let index = machine.index(ofRun: flight.id) { machine.runs[index].isSkipped = true }
      return machine.removeReservation(of: flight.id)
    }
    _ = consume reservation  // Released after the lock.
  }

  @usableFromInline
  func waits(of flight: RunFlight) -> [WaitEdge] {
    self.task(of: flight)?.context.run.attachment?.awaitedRuns ?? []
  }

  @usableFromInline var waitName: String? { self.operation.operationName }

  @inlinable
  func wasCancelled(_ flight: RunFlight) {
    var context = OperationContext()
    var owesRerun = false
    self.change(context, run: flight.id) { machine in
      if let index = machine.index(ofRun: flight.id) { context = machine.runs[index].task.context }
      owesRerun = machine.owesRerun
      return machine.takeBack(flight.id)
    }
    if owesRerun { self.rerunIfDue() }
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
    var removed: StoreMachine<State>.Run?
    // What a mutation has done is not outdated by what another one does.
    let hidesOutdatedRuns = self.wasInvalidated && self.operation.canRunUnasked
    self.change(task.context, run: task.id, result: outcome) { machine in
      if machine.hasPrematureRuns {
        hasFailedPrematurely = machine.failsPrematurely(task.id, with: outcome, isCancelled: isCancelled)
      }
      let landing = machine.land(
        task,
        with: outcome,
        isCancelled: isCancelled,
        hidesOutdatedRuns: hidesOutdatedRuns,
        removed: &removed
      )
      owesRerun = machine.owesRerun
      news = self.activityNews(of: &machine)
      isTold = machine.subscribers.isEmpty && !owesRerun && news == nil
      if isTold { machine.forgetLanding(of: task.id) }
      return landing
    }
    _ = consume removed  // Released after the lock.
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
    var replaced: Ledger<State>.Change?
    self.change(context, run: task.id, result: result) { machine in
      machine.yield(result, of: task, using: context, replaced: &replaced)
    }
    _ = consume replaced  // Released after the lock.
  }

  @inlinable
  func reportLateYield(of task: Task) {
    // A cancelled run has ended for its callers while its work may go on.
    if task.flight.isCancelled { return }
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
  func makeFlight(in context: OperationContext, holders: Int = 0) -> RunFlight {
    RunFlight(pilot: self, carriage: context.operationRunSharing == nil ? nil : Carriage(), holders: holders)
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
    // Not kept while the caller waits.
    let context = self.runContext(context)
    guard let sharing = context.operationRunSharing else {
      return await self.fly(self.makeFlight(in: context), in: context, leaving: .lastStays, handler: handler)
    }
    switch self.admission(context, sharing, handler) {
    case .departure(let flight, let context):
      return await self.fly(flight, in: context, leaving: .atOnce, isHeld: true, handler: handler)
    case .join(let flight, let listener):
      return await self.join(flight, listener)
    case .refusal(let names):
      return OperationCircleError.outcome(names)
    }
  }

  /// Runs the operation.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func fly(
    _ flight: RunFlight,
    in context: OperationContext,
    leaving: RunFlight.Leaving,
    isHeld: Bool = false,
    handler: RunHandler<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    if EnclosingRun.exists { EnclosingRun.note(awaited: flight) }
    let listener = self.listen(to: flight, with: handler)
    let outcome = await flight.outcome(in: context, leaving: leaving, isHeld: isHeld, flownBy: self)
    self.dismiss(listener)
    return outcome
  }

  /// Waits for a run that brings the whole value, whatever its context, or runs the operation.
  @inlinable
  nonisolated(nonsending) func runOrJoin() async -> Result<State.OperationValue, State.Failure> {
    let running = self.machine.withLock { machine in machine.runs.last { machine.canRefresh($0) }?.task.flight }
    guard let running, case .open = WaitGraph.finding(joining: running) else {
      return await self.run(using: nil, handler: nil)
    }
    let context = self.context
    let leaving: RunFlight.Leaving = context.operationRunSharing == nil ? .lastStays : .atOnce
    if let outcome = await running.outcomeIfAlive(leaving: leaving, onBoard: { context.noteJoin() }) { return outcome }
    return await self.run(using: nil, handler: nil)
  }

  /// Waits for a run that the caller is an owner of already.
  @inlinable
  nonisolated(nonsending) func join(
    _ flight: RunFlight,
    _ listener: Subscriber<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    let outcome = await flight.outcomeOfHolder(leaving: .atOnce)
    self.dismiss(listener)
    return outcome
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
  /// - Returns: Waits until their work has ended, or the current task is cancelled.
  func cancelRuns() -> @Sendable () async -> Void {
    let flights = self.machine.withLock { machine in (machine.runs.map(\.task) + machine.reservedTasks).map(\.flight) }
    self.act { for flight in flights { flight.cancel() } }
    return {
      for flight in flights {
        await flight.settled()
        // A shared run ends for its callers when it is cancelled, and its work perhaps later.
        await flight.carriage?.cancelledWorkEnded()
      }
    }
  }
}

/// How a call that may share a run is served.
@usableFromInline
enum RunAdmission<State: OperationState & Sendable> {
  @usableFromInline typealias RunFlight = Flight<State.OperationValue, State.Failure>

  /// By a run of its own, which others can join from now on. The caller begins it, and is an owner of it.
  case departure(RunFlight, OperationContext)
  /// By a run that is there. The caller is an owner of it.
  case join(RunFlight, Subscriber<State>?)
  /// Not at all: the run that does the same waits for the caller.
  case refusal(State.Failure)
}

extension StoreRuntime {
  /// Decides whether a call joins a run that does the same, or begins one.
  ///
  /// The operation says what is the same, while no lock is held. What was looked at then is decided on under one lock: no run
  /// begins unless all others were looked at, and none is joined that has ended, or was invalidated, by then.
  @inlinable
  @inline(never)
  func admission(
    _ context: consuming OperationContext,
    _ sharing: OperationRunSharing,
    _ handler: RunHandler<State>?
  ) -> RunAdmission<State> {
    if let task = self.reserve(context, unlessThereAreOthersThan: []) { return .departure(task.flight, task.context) }
    return self.admissionAmongOthers(context, sharing, handler)
  }

  @usableFromInline
  func admissionAmongOthers(
    _ context: OperationContext,
    _ sharing: OperationRunSharing,
    _ handler: RunHandler<State>?
  ) -> RunAdmission<State> {
    var refused: Set<OperationTaskIdentifier> = []
    while true {
      for candidate in self.joinableTasks where !refused.contains(candidate.id) {
        guard self.operation.isSameRun(context, candidate.context), sharing.isSameRun(context, candidate.context) else {
          refused.insert(candidate.id)
          continue
        }
        switch WaitGraph.finding(joining: candidate.flight) {
        case .open: break
        case .queuedBehindCaller:
          refused.insert(candidate.id)
          continue
        case .recursion(let names):
          if let failure = OperationCircleError.report(names, as: State.Failure.self) { return .refusal(failure) }
          refused.insert(candidate.id)
          continue
        }
        guard let listener = self.boarding(candidate.flight, handler) else { continue }
        context.noteJoin()
        return .join(candidate.flight, listener.subscriber)
      }
      if let task = self.reserve(context, unlessThereAreOthersThan: refused) {
        return .departure(task.flight, task.context)
      }
    }
  }

  /// The tasks of the runs that a caller can join who comes now.
  private var joinableTasks: [Task] {
    self.machine.withLock { machine in
      machine.runs.filter { machine.canServe($0) }.map(\.task) + machine.reservedTasks.filter { $0.flight.isAlive }
    }
  }

  /// Reserves a run, unless there is one that can be joined and is not among those that were refused.
  @inlinable
  func reserve(
    _ context: OperationContext,
    unlessThereAreOthersThan refused: Set<OperationTaskIdentifier>
  ) -> Task? {
    var reserved: Task?
    self.machine.withLock { machine in
      if !machine.runs.isEmpty || !machine.reservedTasks.isEmpty, machine.hasJoinableRun(besides: refused) { return }
      var task = Task(flight: self.makeFlight(in: context, holders: 1), context: context)
      task.enterRun(of: self.reference)
      machine.reservedTasks.append(task)
      reserved = task
    }
    return reserved
  }

  /// The listener of one who has joined a run.
  private struct Boarding {
    let subscriber: Subscriber<State>?
  }

  /// Makes the caller an owner of a run, and its handler one that hears what the run has told and will tell; nil when the run
  /// cannot be joined any more.
  private func boarding(_ flight: RunFlight, _ handler: RunHandler<State>?) -> Boarding? {
    if handler != nil { self.noteDependent() }
    let boarding = self.machine.withLock { machine -> Boarding? in
      let index = machine.index(ofRun: flight.id)
      let isThere =
        index.map { machine.canServe(machine.runs[$0]) } ?? machine.reservedTasks.contains { $0.id == flight.id }
      guard isThere, flight.hold() else { return nil }
      guard let handler else { return Boarding(subscriber: nil) }
      let subscriber = machine.subscribers.add(handler.handler, role: .runListener(flight.id))
      if let index { machine.queueHistory(of: machine.runs[index], for: subscriber) }
      return Boarding(subscriber: subscriber)
    }
    if boarding?.subscriber != nil { self.deliver() }
    return boarding
  }
}

extension StoreMachine {
  @usableFromInline
  func hasJoinableRun(besides refused: Set<OperationTaskIdentifier>) -> Bool {
    self.runs.contains { self.canServe($0) && !refused.contains($0.id) }
      || self.reservedTasks.contains { $0.flight.isAlive && !refused.contains($0.id) }
  }

  /// Lets one who joins a run hear that it has started, and what it has yielded last.
  mutating func queueHistory(of run: Run, for subscriber: Subscriber<State>) {
    guard run.hasStarted else { return }
    self.queue(StoreNews(turn: .started), result: nil, run.task.context, run: run.id, addressee: subscriber)
    guard let (result, task) = self.ledger?.lastYield(of: run.id) else { return }
    self.queue(StoreNews(bringsResult: true), result: result, task.context, run: run.id, addressee: subscriber)
  }
}

extension OperationTask {
  /// Makes its context that of its run.
  @inlinable
  mutating func enterRun(of store: any StoreReference) {
    self.context.enterRun(self.id, of: store, carriage: self.flight.carriage)
  }
}

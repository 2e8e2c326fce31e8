internal import OperationFoundation

extension OperationEvent {
  init(
    _ what: What,
    at path: OperationPath,
    _ operationName: String,
    run: OperationTaskIdentifier?,
    _ cause: OperationRunCause?,
    date: Date,
    _ elapsed: Duration
  ) {
    self.init(
      number: 0,
      path: path,
      operationName: operationName,
      run: run,
      cause: cause,
      date: date,
      elapsed: elapsed,
      what: what
    )
  }
}

// Called for each event with no lock held, if `EventReaders.exist`.
extension StoreRuntime {
  /// Makes an event for the readers of the client, and keeps it for explanations.
  ///
  /// - Parameters:
  ///   - what: The event; evaluated if somebody reads events or explanations of this store.
  ///   - context: The context of the event, which dates it; nil for the store's.
  ///   - run: The run that the event belongs to, if any.
  ///   - cause: The cause of an event outside runs; evaluated as `what` is.
  // Not inlined: there are nearly never readers.
  @inline(never)
  func record(
    _ what: @autoclosure () -> OperationEvent.What,
    in context: OperationContext? = nil,
    run: OperationTaskIdentifier? = nil,
    by cause: @autoclosure () -> OperationRunCause? = nil
  ) {
    // The context of an event may be one that a caller has passed, without a client or deadlines.
    let (own, known) = self.withMachine { ($0.context, $0.extras?.content.history) }
    let hub = own.eventHub
    let hasReaders = hub?.hasReaders ?? false
    guard let history = self.history(known, hasReaders: hasReaders) else { return }
    let context = context ?? own
    let what = what()
    let event = OperationEvent(
      what,
      at: self.path,
      history.operationName,
      run: run,
      run == nil ? cause() : context.operationRunCause,
      date: context.date,
      run == nil ? own.elapsed : context.elapsed
    )
    history.note(event)
    guard let hub, hasReaders else { return }
    if self.lock.isOwnedByCurrentThread { self.act { hub.receive(event) } } else { hub.receive(event) }
    if what.mayRenewValue, own.mayNameFreshPeriods { self.watchStaleness(history) }
  }

  /// The history of the store. It is made if there are readers of events; nil if nobody reads events or explanations.
  private func history(_ known: StoreHistory?, hasReaders: Bool) -> StoreHistory? {
    if let known {
      if hasReaders || known.wasAskedFor { return known }
      // There are no readers any more.
      self.withMachine { machine, released in
        guard !known.wasAskedFor else { return }
        released.append(machine.extras?.content.history)
        machine.uniqueExtras().content.history = nil
      }
      return nil
    }
    guard hasReaders else { return nil }
    return self.makeHistory(wasAskedFor: false)
  }

  /// The history of the store, made if it is missing.
  func makeHistory(wasAskedFor: Bool) -> StoreHistory {
    let made = StoreHistory(operationName: self.operationName)
    let history = self.withMachine { machine -> StoreHistory in
      if let known = machine.extras?.content.history { return known }
      machine.uniqueExtras().content.history = made
      return made
    }
    if wasAskedFor { history.wasAsked() }
    return history
  }

  /// If somebody reads events or explanations of this store, keeps the start of a run in its context.
  @inline(never)
  func recordStart(in context: inout OperationContext) {
    let (own, hasHistory) = self.withMachine { ($0.context, $0.extras?.content.history != nil) }
    guard hasHistory || own.eventHub?.hasReaders == true else { return }
    let cause = context.run.origin?.cause ?? OperationRunCause(.call(taskName: Task<Never, Never>.name))
    context.run.origin = RunOrigin(cause, start: (context.elapsed, context.date))
  }

  /// Records the end of a run.
  func recordEnd(of task: ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    let error = isCancelled ? nil : outcome.anyError
    let end = OperationEvent.RunEnd(
      outcome: isCancelled ? .cancellation : error == nil ? .success : .failure,
      failure: error.map { ShownText.of($0) },
      failureType: error.map { String(reflecting: type(of: $0)) },
      duration: (task.context.run.origin?.start?.elapsed).map { task.context.elapsed - $0 }
    )
    self.record(.runEnded(end), in: task.context, run: task.id)
  }

  /// Records the progress of a run, unless a notice reports it.
  func record(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    let context = self.withMachine { machine in machine.index(ofRun: id).map { machine.runs[$0].task.context } }
    guard let context else { return }
    switch progress {
    case .attemptFailed(let attempt):
      let failure = OperationEvent.AttemptFailure(attempt, at: context.date)
      self.record(.attemptFailed(failure), in: context, run: id)
    case .attemptBegan(let attempt): self.record(.attemptBegan(attempt.index), in: context, run: id)
    case .paused, .resumed: break
    }
  }

  /// Records that a caller joined a run.
  func recordJoin(of sharedRun: SharedRun) {
    let context = self.withMachine { machine in
      machine.index(ofRun: sharedRun.id).map { machine.runs[$0].task.context }
        ?? machine.reservedTasks.first { $0.id == sharedRun.id }?.context
    }
    self.record(.runJoined, in: context, run: sharedRun.id)
  }
}

extension OperationEvent.What {
  /// Whether the event may have changed the value, or how long it is fresh.
  fileprivate var mayRenewValue: Bool {
    switch self {
    case .stateWritten, .yielded(failure: nil): true
    case .runEnded(let end): end.outcome == .success
    default: false
    }
  }
}

extension OperationEvent.AttemptFailure {
  init(_ attempt: OperationAttempt, at date: Date) {
    self.init(
      attempt: attempt.index,
      failure: attempt.lastFailure.map { ShownText.of($0) },
      failureType: attempt.lastFailure.map { String(reflecting: type(of: $0)) },
      next: attempt.nextBegins.map { .since(date, at: $0) },
      reason: attempt.lastFailure?.reasonForDelay
    )
  }
}

extension Error {
  /// Why the next attempt begins at its time, to follow "because"; nil if only the backoff determines it.
  var reasonForDelay: String? {
    guard case .retryAfter? = self.retryAdvice else { return nil }
    return self.isLocalRejection ? "\(type(of: self)) asked for it" : "the server asked for it"
  }
}

extension OperationContext {
  /// Records a notice that was sent with this context. Notices of pauses are left out, because pauses have events.
  func record(_ notice: OperationNotice) {
    guard let runtime = self.run.store?.runtime ?? self.runtimeOfStore(at: notice.path) else { return }
    runtime.record(OperationEvent.What(notice), in: self, run: self.operationRunningTaskIdentifier)
  }

  /// The store of the client at a path, for a notice that was sent outside a run.
  private func runtimeOfStore(at path: OperationPath?) -> StoreRuntime? {
    guard let path, let client = self.operationClient else { return nil }
    return client.storage.runtimes(matching: path).first { $0.path == path }
  }
}

extension OperationEvent.What {
  fileprivate init(_ notice: OperationNotice) {
    switch (notice.name, notice.attributes["pause.reason"]) {
    case (.runPaused, .string(let reason)?): self = .paused(for: reason)
    case (.runResumed, .string(let reason)?):
      let duration: Duration =
        if case .duration(let time)? = notice.attributes["pause.duration"] { time } else { .zero }
      self = .resumed(from: reason, after: duration, outcome: notice.attributes["pause.outcome"]?.description ?? "")
    default: self = .notice(notice)
    }
  }
}

internal import OperationFoundation

extension OperationEvent {
  /// Makes an event of a store, which occurs now. Calls the clock of the context, which is user code.
  init(_ what: What, of runtime: StoreRuntime, in context: OperationContext, run: OperationTaskIdentifier?) {
    self.init(
      number: 0,
      path: runtime.path,
      operationName: runtime.operationName,
      run: run,
      cause: run == nil ? nil : context.operationRunCause,
      date: context.date,
      elapsed: context.elapsed,
      what: what
    )
  }
}

// Called where something happens, with no lock held, if `EventReaders.exist`.
extension StoreRuntime {
  /// Makes an event for the readers of the client, and keeps what explanations tell of it.
  ///
  /// - Parameters:
  ///   - what: What has happened; evaluated if somebody looks at this store.
  ///   - context: The context of the event; nil for the store's.
  ///   - run: The run that the event belongs to, if any.
  // Not inlined: nearly always nobody looks.
  @inline(never)
  func record(
    _ what: @autoclosure () -> OperationEvent.What,
    in context: OperationContext? = nil,
    run: OperationTaskIdentifier? = nil
  ) {
    let context = context ?? self.context
    let hub = context.eventHub
    guard let history = self.history(hasReaders: hub?.hasReaders ?? false) else { return }
    let event = OperationEvent(what(), of: self, in: context, run: run)
    history.note(event)
    guard let hub, hub.hasReaders else { return }
    if self.lock.isOwnedByCurrentThread { self.act { hub.receive(event) } } else { hub.receive(event) }
  }

  /// The history of the store, made for the readers of events if they are there; nil if nobody looks at the store.
  private func history(hasReaders: Bool) -> StoreHistory? {
    if let known = self.withMachine({ $0.extras?.content.history }) {
      if hasReaders || known.wasAskedFor { return known }
      // The readers have gone.
      self.withMachine { if !known.wasAskedFor { $0.uniqueExtras().content.history = nil } }
      return nil
    }
    guard hasReaders else { return nil }
    return self.makeHistory(wasAskedFor: false)
  }

  /// The history of the store, made if it is missing.
  func makeHistory(wasAskedFor: Bool) -> StoreHistory {
    let made = StoreHistory()
    let history = self.withMachine { machine -> StoreHistory in
      if let known = machine.extras?.content.history { return known }
      machine.uniqueExtras().content.history = made
      return made
    }
    if wasAskedFor { history.wasAsked() }
    return history
  }

  /// Keeps the start of a run in its context, if somebody looks at this store.
  @inline(never)
  func recordStart(in context: inout OperationContext) {
    guard context.eventHub?.hasReaders == true || self.withMachine({ $0.extras?.content.history != nil }) else {
      return
    }
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

  /// Records the progress of a run, unless a notice tells it.
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
  /// Why the next attempt begins when it does, to follow "because"; nil if only the backoff says so.
  var reasonForDelay: String? {
    guard case .retryAfter? = self.retryAdvice else { return nil }
    return self.isLocalRejection ? "\(type(of: self)) asked for it" : "the server asked for it"
  }
}

extension OperationContext {
  /// Records a notice that was sent with this context. The notices of pauses are events of their own.
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

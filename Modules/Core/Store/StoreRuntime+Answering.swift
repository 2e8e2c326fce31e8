extension StoreRuntime {
  /// Runs the operation, or joins a run, for a call that may get an answer: the value of the state in place of the
  /// outcome.
  ///
  /// - Parameters:
  ///   - context: Entries for the run; nil for none.
  ///   - joinsRefresh: Whether to join any run that refreshes the whole value.
  ///   - listener: Receives the events of the run, and the answer.
  /// - Returns: The outcome of the run, or an answer.
  // Not inlined: most stores answer no calls.
  @inline(never)
  nonisolated(nonsending) func runWithAnswers(
    using context: OperationContext?,
    joinsRefresh: Bool = false,
    _ listener: Subscriber?
  ) async -> RunOutcome {
    let context = self.runContext(context)
    // A context that was assigned to the store may lack the object that answers calls.
    guard let answerer = context.callAnswerer else {
      return await self.runIgnoringAnswers(using: context, listener: listener)
    }
    if !Task.isCancelled, let answer = self.answer(at: .beforeRun, by: answerer, in: context) {
      let sharedRun = self.runBehind(answer.cause)
      self.give(answer, by: answerer, in: context, sharedRun, addingListener: listener)
      return answer.outcome
    }
    let call: AnsweredCall
    switch self.admissionOfAnsweredCall(context, joinsRefresh: joinsRefresh, listener) {
    case .success(let admitted): call = admitted
    case .failure(let refusal): return RunOutcome.cycle(refusal.names, as: self.operation.failureType)
    }
    if EnclosingRun.exists { EnclosingRun.note(awaited: call.sharedRun) }
    if call.startContext != nil, let listener { self.listen(to: call.sharedRun, with: listener) }
    let departure = RunDeparture(from: call.sharedRun, after: answerer.patience, on: context) {
      self.answer(at: .slowRun, by: answerer, in: context)
    }
    let wait = self.toldWait
    let outcome = await call.wait(until: departure)
    wait?.end()
    if departure.answer != nil, Task.isCancelled, let cancellation = call.sharedRun.cancellation {
      // The caller was cancelled after it had left the run. A cancelled caller gets no answer.
      if let listener { self.dismiss(listener) }
      return cancellation
    }
    if let answer = departure.answer ?? self.answer(to: outcome, of: call.sharedRun, by: answerer, in: context) {
      // The context of the run that the caller has left, if other callers still wait for the run.
      self.give(answer, by: answerer, in: context, call.sharedRun)
      if let listener { self.announce(answer, in: context, call.sharedRun, to: listener) }
      return answer.outcome
    }
    if let listener { self.dismiss(listener) }
    return outcome
  }

  /// Runs the operation, or joins a run that does the same work, and returns the outcome of the run.
  @inline(never)
  nonisolated(nonsending) func runIgnoringAnswers(
    using context: OperationContext?,
    listener: Subscriber?
  ) async -> RunOutcome {
    await self.runWithoutAnswers(using: context, listener: listener)
  }

  /// Returns the answer to a call after its run has ended with this outcome; nil unless the run has failed without
  /// being cancelled.
  private func answer(
    to outcome: RunOutcome,
    of sharedRun: SharedRun,
    by answerer: any CallAnswering,
    in context: OperationContext
  ) -> CallAnswer? {
    guard let error = outcome.anyError, !outcome.isCancellation, !sharedRun.isCancelled, !Task.isCancelled else {
      return nil
    }
    return self.answer(at: .failure(error), by: answerer, in: context)
  }

  private func answer(
    at occasion: CallOccasion,
    by answerer: any CallAnswering,
    in context: OperationContext
  ) -> CallAnswer? {
    guard let state = self.withMachine({ $0.stateForAnswers }) else { return nil }
    return answerer.answer(at: occasion, with: state, in: context)
  }

  /// Starts a run behind a read of the value, if a call would get that value and start such a run.
  func noteRead() {
    let context = self.context
    guard let answerer = context.callAnswerer, let answer = self.answer(at: .beforeRun, by: answerer, in: context)
    else { return }
    let sharedRun = self.runBehind(answer.cause)
    self.give(answer, by: answerer, in: context, sharedRun, addingListener: nil)
  }
}

// MARK: - Admission

/// A call, the run that it waits for, and how it waits.
private struct AnsweredCall: Sendable {
  let sharedRun: SharedRun
  /// The context to start the run with; nil if another caller starts it.
  let startContext: OperationContext?
  let leaving: SharedRun.Leaving
  let isOwner: Bool

  nonisolated(nonsending) func wait(until departure: RunDeparture) async -> RunOutcome {
    await self.sharedRun.wait(
      startingIn: self.startContext,
      leaving: self.leaving,
      isAlreadyOwner: self.isOwner,
      until: departure
    )
  }
}

/// The caller would wait for itself.
private struct Refusal: Error {
  let names: [String]
}

extension StoreRuntime {
  private func admissionOfAnsweredCall(
    _ context: OperationContext,
    joinsRefresh: Bool,
    _ listener: Subscriber?
  ) -> Result<AnsweredCall, Refusal> {
    if joinsRefresh, let running = self.ownedRefresh(context, listener) {
      return .success(AnsweredCall(sharedRun: running, startContext: nil, leaving: running.leaving, isOwner: true))
    }
    guard let sharing = context.operationRunSharing else {
      let run = self.makeRun(in: context)
      return .success(AnsweredCall(sharedRun: run, startContext: context, leaving: .lastStays, isOwner: false))
    }
    switch self.admission(context, sharing, listener) {
    case .newRun(let run, let context):
      return .success(AnsweredCall(sharedRun: run, startContext: context, leaving: .atOnce, isOwner: true))
    case .join(let run):
      return .success(AnsweredCall(sharedRun: run, startContext: nil, leaving: .atOnce, isOwner: true))
    case .refusal(let names): return .failure(Refusal(names: names))
    }
  }

  /// A run that refreshes the whole value, with the caller as a new owner; nil if there is no run to wait for.
  private func ownedRefresh(_ context: OperationContext, _ listener: Subscriber?) -> SharedRun? {
    let running = self.withMachine { $0.runToJoin }
    guard let running, case .open = WaitGraph.noteAndFind(joining: running), self.addOwner(to: running, listener) else {
      return nil
    }
    return running
  }

  /// Starts a run without a waiting caller, unless a run under way refreshes the value.
  ///
  /// - Parameter cause: Why the value is refreshed.
  /// - Returns: The run; nil if the client has stopped automatic runs.
  @discardableResult
  func runBehind(_ cause: OperationRunCause) -> SharedRun? {
    var context = self.context
    let (task, sharedRun) = self.withMachine { machine -> (ErasedTask?, SharedRun?) in
      if let running = machine.runToJoin { return (nil, running) }
      if context.automaticRunsAreStopped { return (nil, nil) }
      context.run.origin = RunOrigin(cause)
      // The state is the owner of the run. The run continues until it ends, or is cancelled for all owners.
      let task = ErasedTask(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
      machine.reservedTasks.append(task)
      return (task, task.sharedRun)
    }
    if let task { self.act { task.sharedRun.start(in: task.context, mode: .enqueued) } }
    return sharedRun
  }
}

// MARK: - Giving an answer

// Not inlined: a call may get an answer before its run or after it, and would have a copy for each.
extension StoreRuntime {
  @inline(never)
  private func give(
    _ answer: CallAnswer,
    by answerer: any CallAnswering,
    in context: OperationContext,
    _ sharedRun: SharedRun?
  ) {
    let run = sharedRun.flatMap { sharedRun in
      self.withMachine { machine in machine.index(ofRun: sharedRun.id).map { machine.runs[$0].task.context } }
    }
    answerer.willGive(answer, in: context, run: run)
    context.notifyObservers(of: answer.notice)
    // The context is not a context of a run, so that no store shows the notice as one of its run.
    if self.isWatched(.notices) { self.report(.notice(answer.notice), in: context) }
  }

  /// Gives an answer to a call that waits for no run.
  private func give(
    _ answer: CallAnswer,
    by answerer: any CallAnswering,
    in context: OperationContext,
    _ sharedRun: SharedRun?,
    addingListener listener: Subscriber?
  ) {
    self.give(answer, by: answerer, in: context, sharedRun)
    guard let listener else { return }
    // If the caller did not listen to a run, it gets a number of its own. It then receives only the answer.
    self.noteDependent()
    self.withMachine { $0.subscribers.add(listener, role: .runListener(OperationTaskIdentifier.next())) }
    self.announce(answer, in: context, sharedRun, to: listener)
  }

  /// Notifies the handler of a call of the answer, and removes the handler.
  @inline(never)
  private func announce(
    _ answer: CallAnswer,
    in context: OperationContext,
    _ sharedRun: SharedRun?,
    to listener: Subscriber
  ) {
    let context = context.adding(answer.entries).stoppingClock()
    self.withMachine { machine in
      let change = StoreChange(bringsResult: true, lifecycle: .ended)
      machine.queue(change, result: answer.outcome, context, run: sharedRun?.id, addressee: listener)
      machine.eventQueue.append(.dismissal(listener))
    }
    self.deliver()
  }
}

// MARK: - Adding what answers

extension StoreRuntime {
  /// The object that answers the calls of the store. The context of a run may be older than it.
  func answerer(of context: OperationContext) -> (any CallAnswering)? {
    context.callAnswerer ?? self.context.callAnswerer
  }
}

extension OpaqueOperationStore {
  /// Returns the object that answers the calls of the store. If there is none, adds one to the context of the store.
  ///
  /// From then on it is notified of the values of all runs, also of runs under way, and answers later calls.
  ///
  /// - Parameter add: Adds the object and further entries. Called with the lock of the store held: it must call no user
  ///   code.
  /// - Returns: The object that answers the calls.
  public func callAnswerer(orAdd add: (inout OperationContext) -> Void) -> (any CallAnswering)? {
    let answerer = self.runtime.withMachine { machine in
      if machine.context.callAnswerer == nil { add(&machine.context) }
      return machine.context.callAnswerer
    }
    self.runtime.noteAnswerer()
    return answerer
  }

  /// The name of the operation, for notices.
  public var operationName: String { self.runtime.operation.operationName }
}

// MARK: - Reading the value

extension OperationStore {
  /// The state without and with the layers, for a read of the value; nil while an invalidation is unanswered.
  public var stateForRead: (state: State, shown: State)? {
    let states = self.runtime.withMachine { machine in
      machine.isInvalidated ? nil : (machine.state, machine.shownState)
    }
    return states.map { ($0.value(as: State.self), $1.value(as: State.self)) }
  }

  /// Starts a run behind a read of the value, if a call would get that value and start such a run.
  public func noteRead() {
    if self.runtime.answersCalls { self.runtime.noteRead() }
  }

  /// Waits for a run that refreshes the whole value. Without one, runs the operation. Calls this way get no answers.
  nonisolated(nonsending) package func runOrJoinWithoutAnswer() async
    -> Result<State.OperationValue, State.Failure>
  {
    await self.runtime.runOrJoin(mayBeAnswered: false).result()
  }
}

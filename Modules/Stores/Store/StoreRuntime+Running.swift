/// A run of a store, from the call to the handlers:
///
/// 1. ``run(using:listener:)`` joins a run that does the same work, or makes one: see ``admission(_:_:_:)``.
/// 2. ``startAndWait(for:in:leaving:isAlreadyOwner:_:)`` starts the run and waits for its outcome. The
///    ``SharedRun`` calls the steps below.
/// 3. ``willStart(_:)`` puts the run into the state, when `SharedRun.start` has started it. `SharedRun.launch` then
///    makes its task.
/// 4. ``performWork(_:)`` calls the operation, in that task (`SharedRun.runInTask`), and ``didYield(_:of:using:)`` takes
///    the results that it yields.
/// 5. ``didFinish(_:with:isCancelled:)`` puts the outcome into the state, when `SharedRun.finish` has ended the work.
///    `SharedRun.resumeWaiters` then resumes the callers of step 2.
///
/// If a run is cancelled after its start, ``wasCancelled(_:)`` rolls it back at once, and step 5 follows when its work
/// has ended. If it is cancelled before step 3, ``wasCancelledBeforeWork(_:)`` replaces steps 3 to 5. If it is
/// cancelled between steps 3 and 4, ``wasCancelledBeforeWork(_:)`` replaces step 4. The operation is called anyway if
/// its failure type cannot represent a cancellation.
///
/// Steps 3 and 5, yields and rollbacks change the state by ``change(_:run:result:replacesValue:_:)``, which also calls
/// the handlers.
extension StoreRuntime {
  /// Runs the operation, or joins a run that does the same work if the operation shares runs.
  @usableFromInline
  nonisolated(nonsending) func run(using context: OperationContext?, listener: Subscriber?) async -> RunOutcome {
    if self.interceptsCalls, let outcome = await self.intercept(.run, using: context, listener) { return outcome }
    return await self.runDirectly(using: context, listener: listener)
  }

  /// Runs the operation, or joins a run, for a call without interceptors, or behind them.
  @inline(__always)
  nonisolated(nonsending) func runDirectly(
    using context: OperationContext?,
    listener: Subscriber?
  ) async -> RunOutcome {
    // The parameter is shadowed so that it is released before the caller suspends.
    let context = self.runContext(context)
    guard let sharing = context.operationRunSharing else {
      return await self.startAndWait(for: self.makeRun(in: context), in: context, leaving: .lastStays, listener)
    }
    switch self.admission(context, sharing, listener) {
    case .newRun(let sharedRun, let context):
      return await self.startAndWait(for: sharedRun, in: context, leaving: .atOnce, isAlreadyOwner: true, listener)
    case .join(let sharedRun):
      return await self.waitAsOwner(of: sharedRun, using: context, listener)
    case .refusal(let names):
      return RunOutcome.cycle(names, as: self.operation.failureType)
    }
  }

  /// Starts a run unless it has started, and waits for its outcome.
  ///
  /// - Parameters:
  ///   - sharedRun: A run of this store, which may have other callers.
  ///   - context: The context that the run starts with.
  ///   - leaving: When the caller leaves after it was cancelled.
  ///   - isAlreadyOwner: Whether the caller is an owner of the run already.
  ///   - listener: Receives the events of the run; nil for none.
  /// - Returns: The outcome of the run, or a cancellation if the caller leaves before the run has finished.
  @inline(never)
  private nonisolated(nonsending) func startAndWait(
    for sharedRun: SharedRun,
    in context: OperationContext,
    leaving: SharedRun.Leaving,
    isAlreadyOwner: Bool = false,
    _ listener: Subscriber?
  ) async -> RunOutcome {
    if EnclosingRun.notesWaits { EnclosingRun.note(awaited: sharedRun) }
    if let listener { self.listen(to: sharedRun, with: listener) }
    if !self.operation.preparations.isEmpty {
      return await self.prepareAndWait(for: sharedRun, in: context, leaving: leaving, isAlreadyOwner, listener)
    }
    let outcome: RunOutcome
    if let wait = self.toldWait {
      outcome = await self.telling(wait) {
        await sharedRun.startAndWait(in: context, leaving: leaving, isAlreadyOwner: isAlreadyOwner)
      }
    } else {
      outcome = await sharedRun.startAndWait(in: context, leaving: leaving, isAlreadyOwner: isAlreadyOwner)
    }
    if let listener { self.dismiss(listener) }
    return outcome
  }

  /// Lets the modifiers of the operation prepare a run in the turn of its caller, starts it, and waits for its outcome.
  // Not inlined: few operations have preparations. The run is started behind a suspension, on no actor: the closure of a
  // cancellation handler does not inherit the caller's.
  @inline(never)
  private nonisolated(nonsending) func prepareAndWait(
    for sharedRun: SharedRun,
    in context: OperationContext,
    leaving: SharedRun.Leaving,
    _ isAlreadyOwner: Bool,
    _ listener: Subscriber?
  ) async -> RunOutcome {
    var context = context
    // The context of a reserved run has the identifier of its run already.
    if context.operationRunningTaskIdentifier != sharedRun.id {
      context.enterRun(sharedRun.id, of: self.reference, waits: sharedRun.waitsOfWork)
    }
    for preparation in self.operation.preparations {
      preparation.runWillBegin(of: self.operation.operationType, in: &context)
    }
    let wait = self.toldWait
    let outcome = await sharedRun.startAndWait(in: context, leaving: leaving, isAlreadyOwner: isAlreadyOwner)
    wait?.end()
    // If the run was cancelled before its start, nothing else does.
    self.endPreparation(in: context)
    if let listener { self.dismiss(listener) }
    return outcome
  }

  /// Lets the modifiers take back what a run has not used.
  @inline(never)
  private func endPreparation(in context: OperationContext) {
    for preparation in self.operation.preparations { preparation.runDidEnd(in: context) }
  }

  /// Waits for a run that the caller has joined, so that it is an owner already, and for another one if the value had missed an
  /// invalidation, which may have come before the call.
  // Not inlined: callers that begin a run would allocate room for this wait, too.
  @inline(never)
  private nonisolated(nonsending) func waitAsOwner(
    of sharedRun: SharedRun,
    using context: OperationContext,
    _ listener: Subscriber?
  ) async -> RunOutcome {
    let number = InvalidationNumber.latest
    let outcome: RunOutcome
    if let wait = self.toldWait {
      outcome = await self.telling(wait) { await sharedRun.waitAsOwner(leaving: .atOnce) }
    } else {
      outcome = await sharedRun.waitAsOwner(leaving: .atOnce)
    }
    if outcome.isSuccess, self.hasMissedInvalidation(since: number, of: sharedRun, in: context) {
      if let listener { self.retire(listener) }
      return await self.runDirectly(using: context, listener: listener)
    }
    if let listener { self.dismiss(listener) }
    return outcome
  }

  /// Adds a subscriber for the events of a run. The caller removes it with ``dismiss(_:)``.
  @inline(never)
  func listen(to sharedRun: SharedRun, with listener: Subscriber) {
    self.noteDependent()
    self.withMachine { machine in
      if listener.hasAnswer { return }
      machine.subscribers.add(listener, role: .runListener(sharedRun.id))
    }
  }

  /// Removes a listener after all events that are queued for it.
  @inline(never)
  func dismiss(_ listener: Subscriber) {
    self.withMachine { $0.eventQueue.append(.dismissal(listener)) }
    self.deliver()
  }

  /// Ends the part of a listener in a run, after all events that are queued for it. The listener then follows another run.
  @inline(never)
  func retire(_ listener: Subscriber) {
    self.withMachine { machine in
      // By its number: when the turn of the entry comes, the listener may have another slot.
      guard let slot = machine.subscribers.slotNumber(of: listener) else { return }
      machine.eventQueue.append(.retirement(listener, slot: slot))
    }
    self.deliver()
  }
}

// MARK: - The steps of a run

extension StoreRuntime: RunDelegate {
  /// Puts the run into the state. If it is made for the subscribers, they become an owner of it.
  package func willStart(_ task: consuming ErasedTask) -> ErasedTask {
    var task = task
    // The context of a reserved run has the identifier of its run already.
    if task.context.operationRunningTaskIdentifier != task.id { task.enterRun(of: self.reference) }
    if self.isWatched(.runs) { task.context.noteStart() }
    // The state may need the date of the start. It must not call a clock with the lock held.
    if self.traits.contains(.datesRuns) { task.context.event.frozenDate = task.context.date }
    let isOwnedBySubscribers = task.context.run.isForSubscribers && task.sharedRun.addOwner()
    let original = task
    var hasSubscribers = false
    var isRepeated = false
    var change: StoreActivityChange?
    self.change(task.context, run: original.id, replacesValue: false, event: .runBegan) { machine, released in
      if isRepeated {
        // There are layers, and this is the task of an earlier draft.
        released.append(task)
        task = original
      }
      isRepeated = true
      let started = machine.start(&task, &released)
      hasSubscribers = isOwnedBySubscribers && machine.subscribers.count > 0
      if hasSubscribers { machine.subscriberRuns.append(original.sharedRun) }
      change = self.activityChange(of: &machine)
      return started
    }
    if isOwnedBySubscribers, !hasSubscribers { task.sharedRun.removeOwner() }
    if let change { self.notify(of: change) }
    if self.traits.contains(.datesRuns) { task.context.event.frozenDate = nil }
    if self.isOver { self.noteRunAfterRemoval() }
    return task
  }

  /// Notifies the handlers of the start, and calls the operation.
  package nonisolated(nonsending) func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    // A handler that joins the run later is notified of the start when it joins.
    if self.hasDependents || invocation.sharedRun.waitsOfWork != nil { self.notifyStart(of: invocation.task) }
    if ClientClearing.areUnderWay, let outcome = await self.outcomeAtGate(invocation) { return outcome }
    if self.isWatched(.waits) { return await self.performNamedWork(invocation) }
    return await self.performUnnamedWork(invocation)
  }

  /// Calls the operation, and lets the code in it find its name.
  // Not inlined: nearly no store has an observer of waits, and the run would allocate room for it.
  @inline(never)
  private nonisolated(nonsending) func performNamedWork(_ invocation: RunInvocation) async -> RunOutcome {
    await RunningOperation.perform(self.operationName, in: invocation.context) {
      await self.performUnnamedWork(invocation)
    }
  }

  @inline(__always)
  private nonisolated(nonsending) func performUnnamedWork(_ invocation: RunInvocation) async -> RunOutcome {
    if let waits = invocation.sharedRun.waitsOfWork { return await self.performShared(invocation, waits) }
    // A store without a client changes nothing, and saves the frames of the closure.
    if invocation.context.clientReference == nil { return await self.operation.run(invocation.context, invocation) }
    return await EnclosingRun.perform(nil, in: invocation.context) {
      self.operation.allowsAutomaticRuns
        ? await self.operation.run(invocation.context, invocation) : await self.performMutation(invocation)
    }
  }

  /// Calls the operation of a run that callers share, unless another run does the same work.
  // Not inlined, so that the frame of other runs has no room for it.
  @inline(never)
  private nonisolated(nonsending) func performShared(
    _ invocation: RunInvocation,
    _ waits: RunWaits
  ) async -> RunOutcome {
    await EnclosingRun.perform(waits, in: invocation.context) {
      waits.noteWork()
      if !waits.isLeading, let outcome = await self.outcomeOfOtherRun(for: invocation) { return outcome }
      return await self.operation.run(invocation.context, invocation)
    }
  }

  /// Notifies the subscribers that the work of a run begins, unless the run was rolled back.
  func notifyStart(of task: ErasedTask) {
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    let recipients = self.withMachine { machine -> Recipients? in
      guard let index = machine.index(ofRun: task.id), machine.runs[index].isShown else { return nil }
      machine.runs[index].beginWork()
      if machine.subscribers.isEmpty { return nil }
      let start = StoreChange(lifecycle: .started)
      return machine.recipients(of: start, result: nil, task.context, run: task.id, mayDeliver: mayDeliver)
    }
    guard let recipients else { return }
    recipients.receive(state: nil, result: nil, lifecycle: .started, task.context, run: task.id)
    self.endDelivery()
  }

  /// Puts a result that the operation yields into the state, unless the run has ended.
  package func didYield(_ result: RunOutcome, of task: ErasedTask, using context: OperationContext?) {
    guard task.sharedRun.isExecuting else { return self.reportLateYield(of: task) }
    var task = task
    let yieldedKind = context?.committedValueKind
    var context = task.context.overlaid(with: context)
    // It is about this yield only: a run that a handler begins with the context of the event commits nothing by itself.
    if yieldedKind != nil { context.committedValueKind = nil }
    context.event.updateReason = .yieldedResult
    context.event.stamp = context.outcomeStamp
    let isRecorded = !self.traits.contains(.undoesYields)
    let committedKind = isRecorded && result.isSuccess ? yieldedKind : nil
    if committedKind != .final { context.event.stamp.kind = .partial }
    task.context = context.stoppingClock()
    let hidesOutdatedRuns = committedKind != nil && self.wasInvalidated && self.operation.allowsAutomaticRuns
    var (isTaken, isLate) = (false, false)
    self.change(
      context,
      run: task.id,
      result: result,
      event: isTaken ? .yielded(StoreOutcome(result)) : nil
    ) { machine, released in
      machine.noteAttempt(of: task.id, in: &context)
      machine.noteAttempt(of: task.id, in: &task.context)
      let change =
        committedKind == nil
        ? machine.yield(result, of: task, isRecorded: isRecorded, &released)
        : machine.commitYield(result, of: task, hidesOutdatedRuns: hidesOutdatedRuns, &released)
      (isTaken, isLate) = (change.bringsResult, change.isLate)
      return change
    }
    if isTaken, committedKind != nil { task.context.run.outcomeEntries?.noteCommit() }
    if isLate { self.rerunAfterInvalidation(isEnqueued: true) }
  }

  /// Reports a result that came after the operation had returned, unless the run was cancelled.
  func reportLateYield(of task: ErasedTask) {
    // A cancelled run has finished for its callers while its work may continue.
    if task.sharedRun.isCancelled { return }
    let event = "The operation at \(ShownText.of(self.path)) yielded a result after task \(task.id) had returned"
    OperationWarning.lateYield(event).report()
  }

  /// Rolls a run back. It stays under way until its work has ended.
  package func wasCancelled(_ sharedRun: SharedRun) {
    var context = OperationContext()
    var needsRerun = false
    self.change(context, run: sharedRun.id) { machine, released in
      if let index = machine.index(ofRun: sharedRun.id) { context = machine.runs[index].task.context }
      needsRerun = machine.needsRerun
      return machine.rollBack(sharedRun.id, &released)
    }
    if needsRerun { self.rerunIfDue() }
  }

  /// Marks a run that was cancelled before its work, so that its end is not reported, and removes its reservation.
  package func wasCancelledBeforeWork(_ sharedRun: SharedRun) {
    self.withMachine { machine, released in
      if let index = machine.index(ofRun: sharedRun.id) {
        machine.runs[index].skip()
      } else {
        // It was cancelled before its start, so that its end is not put into the state. The caller retains the run.
        machine.subscriberRuns.removeAll { $0 === sharedRun }
      }
      released.task = machine.removeReservation(of: sharedRun.id)
    }
  }

  /// Puts the outcome of a run into the state, and starts the reruns that were waiting for its end.
  package func didFinish(_ task: consuming ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    var task = task
    if !self.operation.preparations.isEmpty { self.endPreparation(in: task.context) }
    let entries = task.context.run.outcomeEntries
    if let entries { task.context = entries.added(to: task.context) }
    task.context.stopClock()
    let endDate = task.context.event.frozenDate
    let valueDate = entries != nil && outcome.isSuccess ? task.context.outcomeDate : nil
    if let valueDate { task.context.event.frozenDate = valueDate }
    task.context.event.updateReason = .returnedFinalResult
    task.context.event.stamp = entries?.stamp ?? ValueStamp(.final)
    // A cancellation from inside the operation is not an error of the state either.
    let isCancelled = isCancelled || outcome.isCancellation
    var needsRerun = false
    var hasFailedPrematurely = false
    var isLate = false
    var change: StoreActivityChange?
    /// Whether there is nothing to do after the change.
    var isComplete = false
    /// Whether the run was in the machine.
    var isUnderWay = false
    let end = self.isWatched(.runs) ? StoreEvent.RunEnd(of: task, with: outcome, isCancelled: isCancelled) : nil
    // The result of a mutation does not make results of other mutations outdated.
    let hidesOutdatedRuns = self.wasInvalidated && self.operation.allowsAutomaticRuns
    let renewedCount = entries == nil ? nil : task.context.renewedValueCount
    self.change(
      task.context,
      run: task.id,
      result: outcome,
      event: isUnderWay ? end.map { .runEnded($0) } : nil
    ) { machine, released in
      if machine.hasPrematureRuns {
        hasFailedPrematurely = machine.failsPrematurely(task.id, with: outcome, isCancelled: isCancelled)
      }
      machine.noteAttempt(of: task.id, in: &task.context)
      if end != nil { isUnderWay = machine.index(ofRun: task.id) != nil }
      if self.isOver, self.operation.allowsAutomaticRuns { machine.noteEndAfterRemoval(of: task.id) }
      let finishing = machine.finish(
        task,
        with: outcome,
        isCancelled: isCancelled,
        hidesOutdatedRuns: hidesOutdatedRuns,
        renewedCount: renewedCount,
        &released
      )
      if let origin = entries?.valueOrigin, finishing.bringsResult, outcome.isSuccess {
        machine.noteValueOrigin(origin, &released)
      }
      needsRerun = machine.needsRerun
      isLate = finishing.isLate
      change = self.activityChange(of: &machine)
      isComplete = machine.subscribers.isEmpty && !needsRerun && change == nil
      if isComplete { machine.forgetFinishing(of: task.id) }
      return finishing
    }
    if valueDate != nil { task.context.event.frozenDate = endDate }
    if isComplete { return }
    // This comes before the waiters resume, so that they find the rerun started.
    if needsRerun { self.rerunIfDue() }
    if isLate { self.rerunAfterInvalidation(isEnqueued: true) }
    if hasFailedPrematurely { self.rerunIfStale(self.causeOfPrematureRun) }
    if let change { self.notify(of: change) }
    self.withMachine { $0.forgetFinishing(of: task.id) }
  }
}

// MARK: - Information for the run

extension StoreRuntime {
  package func waits(of sharedRun: SharedRun) -> [WaitEdge] {
    let attachment = self.withMachine { machine in
      machine.index(ofRun: sharedRun.id).flatMap { machine.runs[$0].task.context.run.attachment }
    }
    return attachment?.awaitedRuns ?? []
  }

  package var waitName: String? { self.operation.operationName }

  package var namesTasks: Bool { self.isWatched(.waits) }
}

// MARK: - Attempts and pauses

extension StoreRuntime {
  /// Shows the progress of a run in the state, and notifies the subscribers.
  func note(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    var (lifecycle, event) = (StoreChange.Lifecycle?.none, StoreEvent.What?.none)
    switch progress {
    case .attemptFailed(let attempt): (lifecycle, event) = (.attemptFailed, .attemptFailed(attempt))
    case .attemptBegan(let attempt): event = .attemptBegan(attempt)
    case .paused, .resumed: break
    }
    self.changeTask(of: id, .progress(progress), StoreChange(isStateNew: true, lifecycle: lifecycle), event)
  }

  /// Shows in the state whether a run makes attempts. A run that waits for the work of another run makes none.
  func setMakesAttempts(_ makesAttempts: Bool, of id: OperationTaskIdentifier) {
    self.changeTask(of: id, .makesAttempts(makesAttempts), StoreChange(isStateNew: true))
  }

  private enum TaskChange {
    case progress(RunProgress)
    case makesAttempts(Bool)
  }

  /// If the run is shown, changes its task in the state, and notifies the subscribers.
  ///
  /// - Parameters:
  ///   - id: The run.
  ///   - taskChange: The change. It is not a closure: this function would be compiled once for each closure.
  ///   - notifications: The notifications for the subscribers.
  ///   - event: The event for the observers of the store.
  private func changeTask(
    of id: OperationTaskIdentifier,
    _ taskChange: TaskChange,
    _ notifications: StoreChange,
    _ event: StoreEvent.What? = nil
  ) {
    var context = OperationContext()
    var isShown = false
    self.change(context, run: id, replacesValue: false, event: isShown ? event : nil) { machine, released in
      guard let index = machine.index(ofRun: id), machine.runs[index].isShown else { return StoreChange() }
      isShown = true
      var task = machine.runs[index].task
      // The context may have the error of an earlier attempt.
      released.task = task
      switch taskChange {
      case .progress(let progress):
        task.context.run.attempts = .after(progress, task.context.run.attempts)
        machine.uniqueExtras().content.hasReportedProgress = true
      case .makesAttempts(let makesAttempts):
        if task.context.run.makesAttempts == makesAttempts { return StoreChange() }
        task.context.run.makesAttempts = makesAttempts
      }
      machine.replaceTask(task, at: index)
      context = task.context
      return notifications
    }
  }
}

extension StoreMachine {
  fileprivate mutating func replaceTask(_ task: ErasedTask, at index: Int) {
    self.runs[index].task = task
    self.state.replace(task)
    if self.hasUndoLog { self.undoLog?.editBase { $0.replace(task) } }
  }

  /// Writes the attempt that a run is in to the context of an event of the run.
  func noteAttempt(of id: OperationTaskIdentifier, in context: inout OperationContext) {
    guard self.extras?.content.hasReportedProgress == true, let index = self.index(ofRun: id) else { return }
    if let attempts = self.runs[index].task.context.run.attempts { context.run.attempts = attempts }
  }
}

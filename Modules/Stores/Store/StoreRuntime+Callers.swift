/// The run of a call, if callers share runs.
enum RunAdmission {
  /// A new run, which other callers can join from now on. The caller owns and starts it.
  case newRun(SharedRun, OperationContext)
  /// An existing run. The caller is one of its owners.
  case join(SharedRun)
  /// No run: the run that does the same work waits for the caller, through these operations.
  case refusal([String])
}

extension StoreRuntime {
  /// The result of trying to join one run.
  enum Joining {
    case granted(RunAdmission)
    /// The run does other work, or waits for the caller. The wait is in a cycle, which was reported, or in a queue.
    case refused
    /// The run can no longer be joined.
    case late
  }
}

extension StoreRuntime {
  /// Decides whether a call joins a run that does the same work, or starts one.
  ///
  /// The operation compares runs without the lock. The decision is then made in one step with the lock held. A new run
  /// starts only if the call was compared with all other runs. A run is joined only if it has not finished and was not
  /// invalidated meanwhile.
  @inline(never)
  func admission(
    _ context: consuming OperationContext,
    _ sharing: OperationRunSharing,
    _ listener: Subscriber?
  ) -> RunAdmission {
    // The fast path: there is no run, or one that does the same work.
    var (candidate, reserved) = (ErasedTask?.none, ErasedTask?.none)
    self.withMachine { machine in
      if machine.runs.isEmpty, machine.reservedTasks.isEmpty {
        reserved = self.reserve(context, in: &machine)
      } else {
        candidate = machine.onlyJoinableTask
      }
    }
    if let reserved { return .newRun(reserved.sharedRun, reserved.context) }
    var refusals: Set<OperationTaskIdentifier> = []
    if let candidate {
      switch self.admission(to: candidate, context, sharing, listener) {
      case .granted(let admission): return admission
      case .refused: refusals.insert(candidate.id)
      case .late: break
      }
    }
    return self.admissionAmongOthers(context, sharing, listener, &refusals)
  }

  /// Joins a run if it does the same work and can be joined.
  // Not inlined, as `leadingTasks` is not: functions that call it in loops, or around a suspension, would have several
  // copies.
  @inline(never)
  func admission(
    to candidate: ErasedTask,
    _ context: OperationContext,
    _ sharing: OperationRunSharing,
    _ listener: Subscriber?
  ) -> Joining {
    guard self.operation.isSameRun(context, candidate.context), sharing.isSameRun(context, candidate.context) else {
      return .refused
    }
    if WaitGraph.isNeeded {
      switch WaitGraph.noteAndFind(joining: candidate.sharedRun) {
      case .open: break
      case .queuedBehindCaller: return .refused
      case .recursion(let names):
        if OperationCycleError.isFailure(self.operation.failureType) { return .granted(.refusal(names)) }
        OperationCycleError(operationNames: names).report()
        return .refused
      }
    }
    guard self.addOwner(to: candidate.sharedRun, listener) else {
      EnclosingRun.noteWaitEnded()
      return .late
    }
    return .granted(.join(candidate.sharedRun))
  }

  /// Compares a call with all runs that can be joined, and joins one of them or starts a run.
  ///
  /// - Parameters:
  ///   - context: The context of the call.
  ///   - sharing: The rule by which the call may join a run.
  ///   - listener: Receives the events of a joined run; nil for none.
  ///   - refusals: The runs that the call was compared with and cannot join. This method adds further ones.
  /// - Returns: The joined run, or the reserved new run. If the run that does the same work waits for the caller, a
  ///   refusal.
  @inline(never)
  func admissionAmongOthers(
    _ context: OperationContext,
    _ sharing: OperationRunSharing,
    _ listener: Subscriber?,
    _ refusals: inout Set<OperationTaskIdentifier>
  ) -> RunAdmission {
    while true {
      for candidate in self.joinableTasks where !refusals.contains(candidate.id) {
        switch self.admission(to: candidate, context, sharing, listener) {
        case .granted(let admission): return admission
        case .refused: refusals.insert(candidate.id)
        case .late: continue
        }
      }
      var reserved: ErasedTask?
      self.withMachine { machine in
        if !machine.hasJoinableRun(besides: refusals) { reserved = self.reserve(context, in: &machine) }
      }
      if let reserved { return .newRun(reserved.sharedRun, reserved.context) }
    }
  }

  /// The tasks of the runs that can be joined now.
  private var joinableTasks: [ErasedTask] { self.withMachine { $0.joinableTasks } }

  /// Reserves a run: callers can join it before it starts. Called with the lock held.
  func reserve(_ context: OperationContext, in machine: inout StoreMachine) -> ErasedTask {
    var task = ErasedTask(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
    task.enterRun(of: self.reference)
    task.sharedRun.waitsOfWork?.lead()
    machine.reservedTasks.append(task)
    return task
  }

  /// Makes the caller an owner of a run, and subscribes its listener to the past and future events of the run.
  ///
  /// - Parameters:
  ///   - sharedRun: A run of this store, which may have ended.
  ///   - listener: Receives the events of the run; nil for none.
  /// - Returns: False if the run can no longer be joined.
  func addOwner(to sharedRun: SharedRun, _ listener: Subscriber?) -> Bool {
    if listener != nil { self.noteDependent() }
    let isJoined = self.withMachine { machine in
      let index = machine.index(ofRun: sharedRun.id)
      let isThere =
        index.map { machine.canServeRun(at: $0) } ?? machine.reservedTasks.contains { $0.id == sharedRun.id }
      guard isThere, sharedRun.addOwner() else { return false }
      if self.isWatched(.runs) { self.queueJoin(of: sharedRun.id, &machine) }
      if let listener, !listener.hasAnswer {
        machine.subscribers.add(listener, role: .runListener(sharedRun.id))
        if let index { machine.queueHistory(of: machine.runs[index], for: listener) }
      }
      return true
    }
    if isJoined, listener != nil || self.isWatched(.runs) { self.deliver() }
    return isJoined
  }

  /// Queues the event of a caller that joins a run. Called with the lock held.
  func queueJoin(of run: OperationTaskIdentifier, _ machine: inout StoreMachine) {
    let context =
      machine.index(ofRun: run).map { machine.runs[$0].task.context }
      ?? machine.reservedTasks.first { $0.id == run }?.context
    self.queue(.runJoined, in: context, run: run, &machine)
  }
}

// MARK: - Runs of tasks and subscribers

extension StoreRuntime {
  /// Joins a run that does the same work as the run of a task or of the subscribers. The latter was not compared with
  /// other runs when it was made.
  ///
  /// - Parameter invocation: The run, whose work begins.
  /// - Returns: The outcome of the joined run; nil if there is none, and the run does the work itself.
  @inline(never)
  nonisolated(nonsending) func outcomeOfOtherRun(
    for invocation: RunInvocation
  ) async -> RunOutcome? {
    let (sharedRun, context) = (invocation.sharedRun, invocation.context)
    guard let sharing = context.operationRunSharing else { return nil }
    var refusals: Set<OperationTaskIdentifier> = [sharedRun.id]
    var number = InvalidationNumber.latest
    while true {
      let candidates = self.leadingTasks(besides: refusals) { if $0 { sharedRun.waitsOfWork?.lead() } }
      if candidates.isEmpty { return nil }
      for candidate in candidates {
        switch self.admission(to: candidate, context, sharing, nil) {
        case .granted(.join(let other)):
          let makesAttempts = context.run.makesAttempts
          if makesAttempts { self.setMakesAttempts(false, of: sharedRun.id) }
          let outcome = await other.waitAsOwner(leaving: .atOnce)
          // The joined run may have been cancelled by its own callers, or may have missed an invalidation from before this one.
          let isOutdated = outcome.isSuccess && self.hasMissedInvalidation(since: number, of: other, in: context)
          if !other.isCancelled && !isOutdated || Task.isCancelled { return outcome }
          if isOutdated { number = InvalidationNumber.latest }
          if makesAttempts { self.setMakesAttempts(true, of: sharedRun.id) }
        case .granted(.refusal(let names)): return RunOutcome.cycle(names, as: self.operation.failureType)
        case .granted(.newRun), .late: continue
        case .refused: refusals.insert(candidate.id)
        }
      }
    }
  }

  /// Returns the tasks of the runs that can be joined and that lead, except for some.
  ///
  /// - Parameters:
  ///   - refused: The runs to leave out.
  ///   - decide: Called in one step with the search, with whether no task was found.
  /// - Returns: The tasks.
  @inline(never)
  func leadingTasks(besides refused: Set<OperationTaskIdentifier>, _ decide: (Bool) -> Void) -> [ErasedTask] {
    self.withMachine { machine in
      let tasks = machine.joinableTasks.filter {
        $0.sharedRun.waitsOfWork?.isLeading == true && !refused.contains($0.id)
      }
      decide(tasks.isEmpty)
      return tasks
    }
  }
}

extension StoreMachine {
  /// The tasks of the runs that can be joined.
  var joinableTasks: [ErasedTask] {
    self.runs.filter { self.canServe($0) }.map(\.task) + self.reservedTasks.filter { $0.sharedRun.isAlive }
  }

  /// The task of the only run, if it can be joined; nil without runs, or with more than one.
  var onlyJoinableTask: ErasedTask? {
    if self.runs.count == 1, self.reservedTasks.isEmpty { return self.canServe(self.runs[0]) ? self.runs[0].task : nil }
    guard self.runs.isEmpty, self.reservedTasks.count == 1 else { return nil }
    return self.reservedTasks[0].sharedRun.isAlive ? self.reservedTasks[0] : nil
  }

  /// Whether there is a run that can be joined and that the call was not compared with.
  func hasJoinableRun(besides refused: Set<OperationTaskIdentifier>) -> Bool {
    self.runs.contains { self.canServe($0) && !refused.contains($0.id) }
      || self.reservedTasks.contains { $0.sharedRun.isAlive && !refused.contains($0.id) }
  }

  /// Queues the start of a run and its last yield for a subscriber that joins it.
  mutating func queueHistory(of run: Run, for subscriber: Subscriber) {
    guard run.isWorking else { return }
    self.queue(StoreChange(lifecycle: .started), result: nil, run.task.context, run: run.id, addressee: subscriber)
    guard let (result, task) = self.undoLog?.lastYield(of: run.id) ?? run.lastCommit?.report else { return }
    self.queue(StoreChange(bringsResult: true), result: result, task.context, run: run.id, addressee: subscriber)
  }
}

// MARK: - Waiting

extension StoreRuntime {
  /// Waits for a run that refreshes the whole value, whatever its context; without one, runs the operation.
  ///
  /// - Parameters:
  ///   - demand: What the caller asks for.
  ///   - call: Entries for the run that the caller makes; nil for none.
  ///   - kept: The value of the state, if that is what the caller asks for. Only interceptors are asked then.
  /// - Returns: The outcome of the run, or the answer of an interceptor.
  package nonisolated(nonsending) func runOrJoin(
    _ demand: StoreCall.Demand,
    using call: OperationContext? = nil,
    kept: RunOutcome? = nil
  ) async -> RunOutcome {
    if self.interceptsCalls, let outcome = await self.intercept(demand, using: call, kept: kept) { return outcome }
    if let kept { return kept }
    guard let running = self.withMachine({ $0.runToJoin }), case .open = WaitGraph.noteAndFind(joining: running) else {
      return await self.runOutOfLine(using: call)
    }
    var wait: ToldWait?
    let number = InvalidationNumber.latest
    let outcome = await running.joinIfAlive(
      leaving: running.leaving,
      onJoin: {
        if self.isWatched(.runs) {
          self.withMachine { self.queueJoin(of: running.id, &$0) }
          self.deliver()
        }
        wait = self.toldWait
      }
    )
    wait?.end()
    // The value of the run that was joined may have missed an invalidation that came before the call.
    if let outcome, !outcome.isSuccess || !self.hasMissedInvalidation(since: number, of: running, in: self.context) {
      return outcome
    }
    return await self.runOutOfLine(using: call)
  }

  /// Runs the operation, or joins a run that does the same work.
  @inline(never)
  private nonisolated(nonsending) func runOutOfLine(using call: OperationContext?) async -> RunOutcome {
    await self.runDirectly(using: call, listener: nil)
  }

  /// Begins the wait of the run that the current task works for, which waits for a run of this store from now on.
  ///
  /// Nil outside of the work of a run that is watched.
  var toldWait: ToldWait? {
    RunningOperation.exist ? self.makeToldWait() : nil
  }

  // Not inlined, like all that few callers need: each task that waits would have room for it.
  @inline(never)
  private func makeToldWait() -> ToldWait? {
    ToldWait.begin(for: "\(self.operationName) at \(ShownText.of(self.path))", at: self.path)
  }

  /// Waits, and ends what is told of the wait.
  // Not inlined: mostly there is no observer, and each caller that waits would allocate room for it.
  @inline(never)
  nonisolated(nonsending) func telling(
    _ wait: ToldWait,
    _ body: nonisolated(nonsending) () async -> RunOutcome
  ) async -> RunOutcome {
    let outcome = await body()
    wait.end()
    return outcome
  }

  /// Whether a run that refreshes the whole value is under way, or about to start.
  var isRefreshing: Bool { self.withMachine { $0.runToJoin != nil } }

  /// Whether all runs have finished, and all their notifications were sent.
  var isSettled: Bool { self.withMachine { $0.runs.isEmpty && $0.finishingRuns.isEmpty } }

  /// Waits until all runs have finished, or the current task is cancelled.
  func settled() async {
    while let sharedRun = self.withMachine({ $0.runs.first?.task.sharedRun ?? $0.finishingRuns.first }),
      !Task.isCancelled
    {
      await sharedRun.settled()
    }
  }

  /// Cancels all runs.
  ///
  /// - Returns: A function that waits until their work has ended, or the current task is cancelled.
  package func cancelRuns() -> @Sendable () async -> Void {
    let sharedRuns = self.withMachine { machine in
      (machine.runs.map(\.task) + machine.reservedTasks).map(\.sharedRun)
    }
    self.act { for sharedRun in sharedRuns { sharedRun.cancel() } }
    return {
      for sharedRun in sharedRuns { await sharedRun.settled() }
    }
  }
}

extension StoreMachine {
  /// The run that refreshes the whole value for a new caller, under way or about to start; nil if there is none.
  var runToJoin: SharedRun? {
    if let run = self.runs.last(where: { self.canRefresh($0) }) { return run.task.sharedRun }
    return self.reservedTasks.last { $0.sharedRun.isAlive && self.state.isReplaced(by: $0) }?.sharedRun
  }
}

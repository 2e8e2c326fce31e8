internal import Synchronization

// A run from its start to its outcome:
//
// 1. `start` starts it once, and notifies the delegate (`willStart`).
// 2. `launch` makes its task: at once on the caller's thread, or enqueued.
// 3. `runInTask` waits, in that task, for the dependencies, and lets the delegate do the work (`performWork`).
// 4. `finish` notifies the delegate (`didFinish`), and `resumeWaiters` keeps the outcome and resumes the waiters.
//
// If a run was cancelled before its start, `wasCancelledBeforeWork` replaces `willStart`, and `finishCancelled`
// replaces steps 2 to 4, unless the failure type cannot represent a `CancellationError`. If a run is cancelled while it
// waits for its dependencies, `wasCancelledBeforeWork` replaces `performWork`.

// MARK: - Starting

extension SharedRun {
  /// Starts the run if it has not started.
  package func start(in context: OperationContext, mode: StartMode = .immediate) {
    let (start, delegate) = self.withState { ($0.start(), $0.delegate) }
    guard let delegate else { return }
    switch start {
    case .alreadyStarted: return
    case .allowed:
      let task = delegate.willStart(ErasedTask(sharedRun: self, context: context))
      self.launch(task.context, mode, delegate)
    case .cancelled:
      delegate.wasCancelledBeforeWork(self)
      if !self.finishCancelled() { self.launch(context, mode, delegate) }
    }
  }
}

// MARK: - Launching

extension SharedRun {
  private func launch(_ context: consuming OperationContext, _ mode: StartMode, _ delegate: any RunDelegate) {
    let invocation = RunInvocation(self, context, delegate)
    let depth = ThreadLocal.depth
    guard mode == .immediate, depth.pointee < ThreadLocal.maximumDepth, !invocation.context.hasTaskConfiguration,
      !delegate.namesTasks
    else { return self.launchAsConfigured(invocation, mode, delegate.namesTasks) }
    depth.pointee += 1
    _ = Task.immediate { await self.runInTask(invocation) }
    depth.pointee -= 1
  }

  // Not inlined: most tasks have no configuration, and nearly no store is watched.
  @inline(never)
  private func launchAsConfigured(_ invocation: RunInvocation, _ mode: StartMode, _ hasName: Bool) {
    let depth = ThreadLocal.depth
    var configuration = invocation.context.operationTaskConfiguration
    if hasName, configuration.name == nil { configuration.name = invocation.context.defaultTaskName }
    guard mode == .immediate, depth.pointee < ThreadLocal.maximumDepth,
      configuration.priority == nil, configuration.executorPreference == nil
    else {
      return self.enqueue(invocation, configuration)
    }
    depth.pointee += 1
    _ = Task.immediate(name: configuration.name) { await self.runInTask(invocation) }
    depth.pointee -= 1
  }

  private func enqueue(_ invocation: RunInvocation, _ configuration: OperationTaskConfiguration) {
    self.withState { $0.isStarting = false }
    let handle = Task(
      name: configuration.name,
      executorPreference: configuration.executorPreference,
      priority: configuration.priority
    ) { await self.runInTask(invocation) }
    let priority = self.withState { $0.attach(handle) }
    // Waiters may have joined before this task existed. It gets their priority now, because it may begin much later.
    if let priority, let own = configuration.rawPriority, priority > own {
      handle.escalatePriority(to: TaskPriority(rawValue: priority))
    }
  }
}

// MARK: - Running in the task

extension SharedRun {
  // Inlined: a frame of its own would take memory in the task, and the return to it a look for the executor.
  @inline(__always)
  private nonisolated(nonsending) func runInTask(_ invocation: RunInvocation) async {
    if let dependencies = self.taskStarted() {
      await TaskDependency.waitForAll(dependencies)
      if Task.isCancelled, let cancellation = self.cancellation {
        invocation.delegate.wasCancelledBeforeWork(self)
        return self.finish(cancellation, of: invocation)
      }
    }
    self.finish(await invocation.delegate.performWork(invocation), of: invocation)
  }

  /// Notes that the current task is the run's. Returns the dependencies to wait for; nil when the work can begin.
  private func taskStarted() -> [TaskDependency]? {
    let current = RunTask.current
    if let waits = self.waitsOfWork { waits.task.store(current.identity, ordering: .relaxed) }
    let (isCancelled, priority, dependencies) = self.withState { $0.taskStarted(current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    // The result is not nil for a cancelled run: `runInTask` then checks for the cancellation before the work.
    return isCancelled ? dependencies ?? [] : dependencies
  }
}

// MARK: - Finishing

extension SharedRun {
  /// Finishes a run that was cancelled before it started. False if the failure type cannot represent a
  /// `CancellationError`.
  private func finishCancelled() -> Bool {
    guard let outcome = self.cancellation else { return false }
    self.resumeWaiters(with: outcome)
    return true
  }

  /// Finishes a run whose work has ended.
  private func finish(_ outcome: RunOutcome, of invocation: RunInvocation) {
    let waits = self.waitsOfWork
    waits?.task.store(0, ordering: .relaxed)
    let isCancelled = self.withState { state in
      state.phase = .finishing
      return state.isCancelled
    }
    // After the change of the phase: a task that asks for the run's node meanwhile notes it, and then looks at the phase.
    if waits == nil, LateRunWaits.exist { LateRunWaits.remove(of: self) }
    invocation.delegate.didFinish(invocation.task, with: outcome, isCancelled: isCancelled)
    self.resumeWaiters(with: outcome)
  }

  /// Keeps the outcome, and resumes the waiters.
  private func resumeWaiters(with outcome: RunOutcome) {
    let effects = self.withState { $0.finish(with: outcome) }
    effects.end()
  }
}

public import Synchronization

// A run from its start to its outcome:
//
// 1. `start` starts it once, and notifies the delegate (`willStart`).
// 2. `launch` makes its task: at once on the caller's thread, or enqueued.
// 3. `runInTask` waits, in that task, for the dependencies, and lets the delegate do the work (`performWork`).
// 4. `finish` notifies the delegate (`didFinish`), and `resumeWaiters` keeps the outcome and resumes the waiters.
//
// A run that was cancelled before its start gets `wasCancelledBeforeWork` in place of `willStart`, and `finishCancelled`
// finishes it in place of steps 2 to 4, unless `Failure` cannot represent a `CancellationError`. One that is cancelled
// while it waits for its dependencies gets `wasCancelledBeforeWork` in place of `performWork`.

// MARK: - Starting

extension SharedRun {
  /// Starts the run if it has not started.
  @usableFromInline
  package func start(in context: OperationContext, mode: StartMode = .immediate) {
    let delegate = self.withState { _ in self.delegate }
    if let delegate { self.start(in: context, mode: mode, delegate: delegate) }
  }

  /// Starts the run if it has not started.
  ///
  /// - Parameters:
  ///   - context: The context that the run starts with.
  ///   - mode: How the run starts.
  ///   - delegate: The delegate that the run was made with. Its static type avoids dynamic dispatch.
  @inlinable
  package func start<Delegate: RunDelegate>(
    in context: OperationContext,
    mode: StartMode,
    delegate: Delegate
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    let start = self.withState { $0.start() }
    if case .alreadyStarted = start { return }
    let task = OperationTask(sharedRun: self, context: context)
    if case .allowed = start { return self.launch(delegate.willStart(task).context, mode, delegate) }
    delegate.wasCancelledBeforeWork(self)
    if !self.finishCancelled() { self.launch(context, mode, delegate) }
  }
}

// MARK: - Launching

extension SharedRun {
  @inlinable
  func launch<Delegate: RunDelegate>(
    _ context: consuming OperationContext,
    _ mode: StartMode,
    _ delegate: Delegate
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    let invocation = RunInvocation(self, context, delegate)
    let depth = ThreadLocal.depth
    guard mode == .immediate, depth.pointee < ThreadLocal.maximumDepth, !invocation.context.hasTaskConfiguration else {
      return self.launchAsConfigured(invocation, mode)
    }
    depth.pointee += 1
    _ = Task.immediate { await Self.runInTask(invocation) }
    depth.pointee -= 1
  }

  // Not inlined: most tasks have no configuration.
  @usableFromInline
  func launchAsConfigured<Delegate: RunDelegate>(
    _ invocation: RunInvocation<Delegate>,
    _ mode: StartMode
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    let depth = ThreadLocal.depth
    let configuration = invocation.context.operationTaskConfiguration
    guard mode == .immediate, depth.pointee < ThreadLocal.maximumDepth,
      configuration.priority == nil, configuration.executorPreference == nil
    else {
      return self.enqueue(invocation, configuration)
    }
    depth.pointee += 1
    _ = Task.immediate(name: configuration.name) { await Self.runInTask(invocation) }
    depth.pointee -= 1
  }

  private func enqueue<Delegate: RunDelegate>(
    _ invocation: RunInvocation<Delegate>,
    _ configuration: OperationTaskConfiguration
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    self.withState { $0.isStarting = false }
    let handle = Task(
      name: configuration.name,
      executorPreference: configuration.executorPreference,
      priority: configuration.priority
    ) { await Self.runInTask(invocation) }
    let priority = self.withState { $0.attach(handle) }
    // Waiters may have joined before this task existed, and it may begin much later: it gets their priority now.
    if let priority, let own = configuration.rawPriority, priority > own {
      handle.escalatePriority(to: TaskPriority(rawValue: priority))
    }
  }
}

// MARK: - Running in the task

extension SharedRun {
  @inlinable
  @inline(__always)
  static nonisolated(nonsending) func runInTask<Delegate: RunDelegate>(
    _ invocation: RunInvocation<Delegate>
  ) async where Delegate.Success == Success, Delegate.Failure == Failure {
    let sharedRun = invocation.sharedRun
    if let dependencies = sharedRun.taskStarted() {
      await TaskDependency.waitForAll(dependencies)
      if Task.isCancelled, let cancellation = Self.cancellation {
        invocation.delegate.wasCancelledBeforeWork(sharedRun)
        return sharedRun.finish(cancellation, of: invocation.task, invocation.delegate)
      }
    }
    sharedRun.finish(await invocation.delegate.performWork(invocation), of: invocation.task, invocation.delegate)
  }

  /// Makes the current task that of the run. Returns the dependencies to wait for; nil when the work can begin.
  @usableFromInline
  func taskStarted() -> [TaskDependency]? {
    let current = RunTask.current
    if let waits = self.waitsOfWork { waits.task.store(current.identity, ordering: .relaxed) }
    let (isCancelled, priority, dependencies) = self.withState { $0.taskStarted(current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    // Not nil for a cancelled run: `runInTask` then checks for the cancellation before the work.
    return isCancelled ? dependencies ?? [] : dependencies
  }
}

// MARK: - Finishing

extension SharedRun {
  /// Finishes a run that was cancelled before it started. False if `Failure` cannot represent a `CancellationError`.
  @inlinable
  @inline(never)
  func finishCancelled() -> Bool {
    guard let outcome = Self.cancellation else { return false }
    self.resumeWaiters(with: outcome)
    return true
  }

  /// Finishes a run whose work has ended.
  @inlinable
  package func finish<Delegate: RunDelegate>(
    _ outcome: Outcome,
    of task: consuming OperationTask<Success, Failure>,
    _ delegate: Delegate
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    if let waits = self.waitsOfWork { waits.task.store(0, ordering: .relaxed) }
    let isCancelled = self.withState { state in
      state.phase = .finishing
      return state.isCancelled
    }
    delegate.didFinish(task, with: outcome, isCancelled: isCancelled)
    self.resumeWaiters(with: outcome)
  }

  /// Keeps the outcome, and resumes the waiters.
  @inlinable
  func resumeWaiters(with outcome: Outcome) {
    // Not returned from the lock: that would look up the type where the compiler does not know it.
    var delegate: (any RunDelegate<Success, Failure>)?
    let effects = self.withState { state in
      delegate = self.delegate
      self.delegate = nil
      let effects = state.finish(with: outcome.box)
      self.isFinished.store(true, ordering: .releasing)
      return effects
    }
    effects.end()
    _ = consume delegate  // Released after unlocking.
  }
}

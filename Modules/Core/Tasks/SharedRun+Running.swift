public import Synchronization

// MARK: - Beginning

extension SharedRun {
  /// Begins the run if nobody has.
  @usableFromInline
  package func begin(in context: OperationContext, mode: StartMode = .immediate) {
    let delegate = self.withState { _ in self.delegate }
    if let delegate { self.begin(in: context, mode: mode, delegate: delegate) }
  }

  /// Begins the run if nobody has, with the delegate that it was made with.
  @inlinable
  package func begin<Delegate: RunDelegate>(
    in context: OperationContext,
    mode: StartMode,
    delegate: Delegate
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    let start = self.withState { $0.begin() }
    if case .alreadyStarted = start { return }
    let task = OperationTask(sharedRun: self, context: context)
    if case .allowed = start { return self.launch(delegate.willStart(task).context, mode, delegate) }
    delegate.didNotStart(self)
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
    self.makeTask { _ = Task.immediate { await Self.perform(invocation) } }
    depth.pointee -= 1
  }

  // Not inlined: few tasks are configured.
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
    self.makeTask { _ = Task.immediate(name: configuration.name) { await Self.perform(invocation) } }
    depth.pointee -= 1
  }

  private func enqueue<Delegate: RunDelegate>(
    _ invocation: RunInvocation<Delegate>,
    _ configuration: OperationTaskConfiguration
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    self.withState { $0.isStarting = false }
    self.makeTask {
      let handle = Task(
        name: configuration.name,
        executorPreference: configuration.executorPreference,
        priority: configuration.priority
      ) { await Self.perform(invocation) }
      let priority = self.withState { $0.attach(handle) }
      // Those are made up for who joined before there was a task to raise, which may be long before this one begins.
      if let priority, let own = configuration.rawPriority, priority > own {
        handle.escalatePriority(to: TaskPriority(rawValue: priority))
      }
    }
  }

  /// Makes the task, which knows its run where that may be shared.
  @inlinable
  func makeTask(_ make: () -> Void) {
    if let loan = self.loan { EnclosingRun.makeTask(of: loan, make) } else { make() }
  }
}

// MARK: - Performing

extension SharedRun {
  @inlinable
  @inline(__always)
  static nonisolated(nonsending) func perform<Delegate: RunDelegate>(
    _ invocation: RunInvocation<Delegate>
  ) async where Delegate.Success == Success, Delegate.Failure == Failure {
    let sharedRun = invocation.sharedRun
    if let dependencies = sharedRun.taskStarted() {
      await TaskDependency.settle(dependencies)
      if Task.isCancelled, let cancellation = Self.cancellation {
        invocation.delegate.didNotStart(sharedRun)
        return sharedRun.finish(cancellation, of: invocation.task, invocation.delegate)
      }
    }
    sharedRun.finish(await invocation.delegate.perform(invocation), of: invocation.task, invocation.delegate)
  }

  /// Makes the current task the one of the run, and returns what that waits for; nil where the work can begin.
  @usableFromInline
  func taskStarted() -> [TaskDependency]? {
    let current = RunTask.current
    if let loan = self.loan { loan.task.store(current.identity, ordering: .relaxed) }
    let (isCancelled, priority, dependencies) = self.withState { $0.taskStarted(current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    // Cancelled by now, the work does not begin.
    return isCancelled ? dependencies ?? [] : dependencies
  }
}

// MARK: - Finishing

extension SharedRun {
  /// Finishes a run that was cancelled before it began. False where `Failure` has no room for that.
  @inlinable
  @inline(never)
  func finishCancelled() -> Bool {
    guard let outcome = Self.cancellation else { return false }
    self.finish(outcome)
    return true
  }

  @inlinable
  func finish<Delegate: RunDelegate>(
    _ outcome: Outcome,
    of task: consuming OperationTask<Success, Failure>,
    _ delegate: Delegate
  ) where Delegate.Success == Success, Delegate.Failure == Failure {
    if let loan = self.loan { loan.task.store(0, ordering: .relaxed) }
    let isCancelled = self.withState { state -> Bool? in
      guard state.phase == .executing else { return nil }
      state.phase = .finishing
      return state.isCancelled
    }
    // It has finished when it was cancelled, if its task had a borrower.
    guard let isCancelled else { return }
    delegate.didFinish(task, with: outcome, isCancelled: isCancelled)
    self.finish(outcome)
  }

  @inlinable
  func finish(_ outcome: Outcome) {
    let box = Self.box(outcome)
    // Not returned: what a lock returns has its type looked up, where that is not known to the compiler.
    var delegate: (any RunDelegate<Success, Failure>)?
    let effects = self.withState { state in
      self.settledOutcome = box
      delegate = self.delegate
      self.delegate = nil
      self.isFinished.store(true, ordering: .releasing)
      return state.finish()
    }
    effects.end()
    _ = consume delegate  // Released after the lock.
  }
}

public import OperationCore
public import Synchronization

/// A run in a task of its own, which its caller can leave before it ends.
@usableFromInline
final class TimedRun<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Outcome = Result<Operation.Value, Operation.Failure>
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  @usableFromInline let lock = Mutex(())
  // The state lies beside its lock, because a `Mutex` of a generic value looks its type up.
  // Unsafe only in name: `lock` guards it.
  @usableFromInline nonisolated(unsafe) var state = TimedRunState()
  // Unsafe only in name: `lock` guards it.
  @usableFromInline nonisolated(unsafe) var continuation: Continuation?
  // Unsafe only in name: `lock` guards it.
  @usableFromInline nonisolated(unsafe) var outcome: Outcome?

  @usableFromInline let context: OperationContext
  @usableFromInline let isolation: (any Actor)?
  @usableFromInline let operation: Operation

  @inlinable
  init(operation: Operation, context: OperationContext, continuation: Continuation, isolation: (any Actor)?) {
    self.operation = operation
    self.context = context
    self.continuation = continuation
    self.isolation = isolation
  }
}

// MARK: - Running

extension TimedRun {
  /// Starts the run on the thread of the caller. Returns whether it has ended already.
  @inlinable
  func start() -> Bool {
    // A task of its own does not inherit the cancellation.
    if Task.isCancelled { return self.started(by: self.startCancelled()) }
    return self.started(
      by: RunTask.start(in: self.context) {
        Task.immediate { await self.perform() }
      } enqueuing: { executor in
        Task(executorPreference: executor) { await self.perform() }
      }
    )
  }

  // Not inlined: cancelled runs are rare.
  @usableFromInline
  func startCancelled() -> RunTask {
    RunTask.start(in: self.context) {
      Task.immediate { await self.performCancelled() }
    } enqueuing: { executor in
      Task(executorPreference: executor) { await self.performCancelled() }
    }
  }

  private func performCancelled() async {
    withUnsafeCurrentTask { $0?.cancel() }
    await self.perform()
  }

  /// Keeps the task of the run, and returns whether the run has ended.
  @inlinable
  func started(by task: RunTask) -> Bool {
    self.lock.withLock { _ in
      if self.state.phase == .ended { return true }
      self.state.task = task
      return false
    }
  }

  @inlinable
  func perform() async {
    let continuation = Continuation { result, context in self.yield(result, using: context) }
    do throws(Operation.Failure) {
      self.finish(
        .success(try await self.operation.run(isolation: self.isolation, in: self.context, with: continuation))
      )
    } catch {
      self.finish(.failure(error))
    }
  }

  @inlinable
  func finish(_ outcome: Outcome) {
    let isAwaited = self.lock.withLock { _ in
      // Before the caller waits, nothing else is to be done.
      guard self.state.phase == .running, self.state.waiter == nil, self.state.timer == nil else { return true }
      self.outcome = outcome
      self.state.phase = .ended
      return false
    }
    if isAwaited { self.finishAwaited(outcome) }
  }

  // Not inlined: it is called once for each run that waits.
  @usableFromInline
  func finishAwaited(_ outcome: Outcome) {
    let effects = self.lock.withLock { _ in
      if self.state.phase == .running { self.outcome = outcome }
      return self.state.finish()
    }
    effects.perform()
  }

  /// The outcome of the run, which has ended in time. Called once.
  @inlinable
  func takeOutcome() -> Outcome {
    // Captured, not returned: what a lock returns has to be sendable.
    var outcome: Outcome?
    self.lock.withLock { _ in outcome = self.outcome.take() }
    guard let outcome else {
      preconditionFailure("The outcome of a run was taken twice, or before the run had ended.")
    }
    return outcome
  }
}

// MARK: - Waiting

extension TimedRun {
  /// Waits until the run has ended, its time is over, or the caller is cancelled.
  ///
  /// - Parameters:
  ///   - allowance: The time of the run.
  ///   - context: The context of the caller, whose deadlines end the wait.
  ///   - canLeave: Whether a caller that is cancelled leaves at once. If not, it waits for the end of the run.
  nonisolated(nonsending) func end(
    by allowance: TimeAllowance,
    in context: OperationContext,
    canLeave: Bool
  ) async -> TimedRunState.Phase {
    await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { self.suspend($0, allowance, context) }
      } onCancel: {
        self.callerWasCancelled(canLeave: canLeave)
      }
    } onPriorityEscalated: { _, priority in
      self.lock.withLock { _ in self.state.task }?.escalatePriority(to: priority)
    }
    return self.lock.withLock { _ in self.state.phase }
  }

  private func suspend(
    _ waiter: UnsafeContinuation<Void, Never>,
    _ allowance: TimeAllowance,
    _ context: OperationContext
  ) {
    let (suspends, hasTimer) = self.lock.withLock { _ in
      let suspends = self.state.phase == .running
      if suspends { self.state.waiter = waiter }
      return (suspends, !self.state.isCancelled)
    }
    guard suspends else { return waiter.resume() }
    guard hasTimer else { return }
    let timer = context.operationDeadlines.schedule(after: allowance.remaining(in: context)) { self.timeIsOver() }
    let isObsolete = self.lock.withLock { _ in
      guard self.state.phase == .running, !self.state.isCancelled else { return true }
      self.state.timer = timer
      return false
    }
    if isObsolete { timer.cancel() }
  }

  private func timeIsOver() {
    self.leave { $0.isCancelled ? nil : .timedOut }
  }

  private func callerWasCancelled(canLeave: Bool) {
    if canLeave { return self.leave { _ in .left } }
    self.lock.withLock { _ in self.state.cancel() }.perform()
  }

  /// Lets the caller leave the run, if it has not ended and `phase` returns a phase, and cancels the run.
  private func leave(_ phase: (TimedRunState) -> TimedRunState.Phase?) {
    let (effects, continuation) = self.lock.withLock { _ -> (TimedRunState.Effects?, Continuation?) in
      guard self.state.phase == .running, let phase = phase(self.state) else { return (nil, nil) }
      return (self.state.leave(phase), self.continuation.take())
    }
    effects?.perform()
    _ = consume continuation  // Released after unlocking: it may hold objects of the caller.
  }
}

// MARK: - Yields

extension TimedRun {
  /// Passes a result on, unless the caller has left or the run has ended.
  // Not inlined: yields are rare.
  @usableFromInline
  func yield(_ result: Outcome, using context: OperationContext?) {
    let (phase, continuation) = self.lock.withLock { _ in
      (self.state.phase, self.state.phase == .running ? self.continuation : nil)
    }
    switch phase {
    case .running: continuation?.yield(with: result, using: context)
    // The work of a cancelled run may go on, and need not be told apart.
    case .left: break
    case .timedOut: OperationWarning.abandonedYield(of: Operation.self).report()
    case .ended, .over:
      OperationWarning.lateYield("A run of \(Operation.self) yielded a result after it had returned").report()
    }
  }
}

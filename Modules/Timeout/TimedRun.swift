public import OperationCore
internal import Synchronization

/// A run in a task of its own, which its caller can leave before it ends.
@usableFromInline
final class TimedRun<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Outcome = Result<Operation.Value, Operation.Failure>
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  private let lock = Mutex(())
  // The state lies beside its lock, because a `Mutex` of a generic value looks its type up.
  private nonisolated(unsafe) var state = TimedRunState()  // Unsafe only in name: `lock` guards it.
  private nonisolated(unsafe) var continuation: Continuation?  // Unsafe only in name: `lock` guards it.
  private nonisolated(unsafe) var outcome: Outcome?  // Unsafe only in name: `lock` guards it.

  private let context: OperationContext
  private let isolation: (any Actor)?
  let operation: Operation

  @usableFromInline
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
  @usableFromInline
  func start() -> Bool {
    let task = Task.isCancelled ? self.startCancelled() : RunTask.start(in: self.context) { await self.perform() }
    return self.lock.withLock { _ in
      self.state.task = task
      return self.state.phase == .ended
    }
  }

  /// Starts the run in a task that is cancelled, as a task of its own does not inherit that.
  private func startCancelled() -> RunTask {
    RunTask.start(in: self.context) {
      withUnsafeCurrentTask { $0?.cancel() }
      await self.perform()
    }
  }

  private func perform() async {
    let continuation = Continuation { result, context in self.yield(result, using: context) }
    do throws(Operation.Failure) {
      self.finish(
        .success(try await self.operation.run(isolation: self.isolation, in: self.context, with: continuation))
      )
    } catch {
      self.finish(.failure(error))
    }
  }

  private func finish(_ outcome: Outcome) {
    let effects = self.lock.withLock { _ in
      if self.state.phase == .running { self.outcome = outcome }
      return self.state.finish()
    }
    effects.perform()
  }

  /// The outcome of the run, which has ended in time. Called once.
  @usableFromInline
  func takeOutcome() -> Outcome {
    guard let outcome = self.lock.withLock({ _ in Unguarded(self.outcome.take()) }).value else {
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
  private func yield(_ result: Outcome, using context: OperationContext?) {
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

/// Carries a value out of a lock whose result has to be sendable.
private struct Unguarded<Value>: @unchecked Sendable {
  // Unchecked because the value is used by the one caller that took it out of the state.
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

public import OperationCore
internal import Synchronization

/// A run in a task of its own, which its caller can leave before it ends.
///
/// It does not know the types of the operation, so that it is compiled once. ``TypedTimedRun`` does.
@usableFromInline
class TimedRun: @unchecked Sendable {
  // Unchecked: the compiler cannot check a class with a subclass. The lock guards what changes, also in the subclass.

  fileprivate let state = Mutex(TimedRunState())

  @usableFromInline
  init() {}

  /// Takes the continuation of a caller that leaves, to be released after unlocking. Called with the lock held.
  fileprivate func takeContinuation() -> (any Sendable)? { preconditionFailure("Overridden by the subclass.") }
}

/// A run with the continuation of its caller.
@usableFromInline
final class TypedTimedRun<Value: Sendable, Failure: Error>: TimedRun, @unchecked Sendable {
  // Unchecked like its base class, whose lock guards the continuation.

  /// The type of the operation, for warnings.
  private let operation: any Any.Type
  /// Nil after the caller has left: it may own objects of the caller.
  private var continuation: OperationContinuation<Value, Failure>?

  @usableFromInline
  init(of operation: any Any.Type, continuation: OperationContinuation<Value, Failure>) {
    self.operation = operation
    self.continuation = continuation
  }

  override fileprivate func takeContinuation() -> (any Sendable)? { self.continuation.take() }
}

/// An operation on its way into the task of its run.
@usableFromInline
struct TimedWork<Operation: OperationRequest & SendableMetatype>: Sendable {
  // Safe, because the operation is Sendable where a timeout is applied to it: see `Timeout`.
  @usableFromInline nonisolated(unsafe) let operation: Operation

  @inlinable
  init(operation: Operation) {
    self.operation = operation
  }
}

/// Where the attempts of the client's retry are made, and when they end.
@usableFromInline
struct TimedAttempts: Sendable {
  @usableFromInline let place: OutcomeModifierIdentifier
  @usableFromInline let end: Duration

  @usableFromInline
  init(place: OutcomeModifierIdentifier, end: Duration) {
    self.place = place
    self.end = end
  }
}

// MARK: - Running

extension TypedTimedRun {
  /// Starts the run on the thread of the caller.
  ///
  /// - Returns: The outcome if the run has ended already, otherwise nil.
  @inlinable
  func start<Operation: OperationRequest<Value, Failure> & SendableMetatype>(
    _ operation: Operation,
    _ attempts: TimedAttempts,
    in context: OperationContext,
    isolation: (any Actor)?,
    isCancelled: Bool
  ) -> RunOutcome? {
    let work = TimedWork(operation: operation)
    let task = RunTask.start(in: context) {
      Task.immediate { await self.perform(work.operation, attempts, context, isolation, isCancelled) }
    } enqueuing: { executor in
      Task(executorPreference: executor) {
        await self.perform(work.operation, attempts, context, isolation, isCancelled)
      }
    }
    return self.outcome(startedAs: task)
  }

  @inlinable
  func perform<Operation: OperationRequest<Value, Failure> & SendableMetatype>(
    _ operation: Operation,
    _ attempts: TimedAttempts,
    _ context: OperationContext,
    // Isolated, so that there is no switch back to no actor after the operation.
    _ isolation: isolated (any Actor)?,
    _ isCancelled: Bool
  ) async {
    // A task of its own does not inherit the cancellation.
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let continuation = OperationContinuation<Value, Failure> { result, context in
      self.yield(result, using: context)
    }
    let outcome: RunOutcome
    do throws(Failure) {
      let value = try await operation.runWithAttempts(
        of: attempts.place,
        until: attempts.end,
        isolation: isolation,
        in: context,
        with: continuation
      )
      outcome = RunSuccess(value)
    } catch {
      outcome = RunFailure(error)
    }
    self.finish(outcome)
  }
}

extension TimedRun {
  /// Keeps the task of the run, unless it has ended. Returns the outcome if it has.
  @usableFromInline
  func outcome(startedAs task: RunTask) -> RunOutcome? {
    self.state.withLock { state in
      if state.phase == .running { state.task = task }
      return state.waiter.outcome ?? nil
    }
  }

  @usableFromInline
  func finish(_ outcome: RunOutcome) {
    self.state.withLock { $0.finish(outcome) }.perform()
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
  /// - Returns: The outcome if the run has ended, otherwise nil.
  // Not inlined: a run that returns at once does not wait.
  @usableFromInline
  nonisolated(nonsending) func end(
    by allowance: TimeAllowance,
    in context: OperationContext,
    canLeave: Bool
  ) async -> RunOutcome? {
    await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        await Waiter.outcome { self.suspend($0, allowance, context) }
      } onCancel: {
        self.callerWasCancelled(canLeave: canLeave, context)
      }
    } onPriorityEscalated: { _, priority in
      self.state.withLock { $0.task }?.escalatePriority(to: priority)
    }
  }

  /// The elapsed time at which the time of the run is over, as planned so far; nil if nothing ends it, or it has ended.
  var plannedEnd: Duration? {
    self.state.withLock { $0.phase == .running && !$0.isCancelled && $0.timer != nil ? $0.end : nil }
  }

  /// Whether the caller was cancelled and has left the run.
  @usableFromInline var hasLeft: Bool { self.state.withLock { $0.phase == .left } }

  private func suspend(
    _ continuation: UnsafeContinuation<RunOutcome?, Never>,
    _ allowance: TimeAllowance,
    _ context: OperationContext
  ) -> RunOutcome?? {
    let timer = self.timer(at: allowance.end, allowance, context)
    let (outcome, isObsolete) = self.state.withLock { state in
      let outcome = state.waiter.suspend(continuation)
      guard outcome == nil, !state.isCancelled else { return (outcome, true) }
      (state.timer, state.end) = (timer, allowance.end)
      return (nil, false)
    }
    if isObsolete { timer.cancel() }
    return outcome
  }

  private func timer(at end: Duration, _ allowance: TimeAllowance, _ context: OperationContext) -> RunTimer {
    context.timer(at: end) { self.timeIsOver(allowance, context) }
  }

  private func timeIsOver(_ allowance: TimeAllowance, _ context: OperationContext) {
    if let shared = allowance.shared, !shared.end(at: context.operationDeadlines.instant) {
      return self.goOn(until: shared, allowance, context)
    }
    self.leave(in: context) { $0.isCancelled ? nil : .timedOut }
  }

  /// Ends the run at the deadline of a caller that has joined it; never if one has none.
  private func goOn(until shared: SharedDeadline, _ allowance: TimeAllowance, _ context: OperationContext) {
    guard let instant = shared.instant else { return self.state.withLock { $0.end = nil } }
    let end = context.elapsed + context.operationDeadlines.timeRemaining(until: instant).clampedForClock
    let timer = self.timer(at: end, allowance, context)
    let isObsolete = self.state.withLock { state in
      guard state.phase == .running, !state.isCancelled else { return true }
      (state.timer, state.end, state.isExtended) = (timer, end, true)
      return false
    }
    if isObsolete { timer.cancel() }
  }

  /// The time that was asked for; the time that has passed if a caller with a later deadline has joined the run.
  func asked(of allowance: TimeAllowance, in context: OperationContext) -> Duration {
    guard self.state.withLock({ $0.isExtended }) else { return allowance.asked }
    return context.elapsed - (allowance.end - allowance.duration.clampedForClock)
  }

  private func callerWasCancelled(canLeave: Bool, _ context: OperationContext) {
    if canLeave { return self.leave(in: context) { _ in .left } }
    self.state.withLock { $0.cancel() }.perform()
  }

  /// Lets the caller leave the run, if it has not ended and `phase` returns a phase, and cancels the run.
  private func leave(in context: OperationContext, _ phase: (TimedRunState) -> TimedRunState.Phase?) {
    let (effects, continuation) = self.state.withLock { state -> (TimedRunState.Effects?, (any Sendable)?) in
      guard state.phase == .running, let phase = phase(state) else { return (nil, nil) }
      return (state.leave(phase, in: context), self.takeContinuation())
    }
    effects?.perform()
    withExtendedLifetime(continuation) {}
  }
}

// MARK: - Yields

extension TypedTimedRun {
  /// Passes a result on, unless the caller has left or the run has ended.
  // Not inlined: yields are rare.
  @usableFromInline
  func yield(_ result: Result<Value, Failure>, using context: OperationContext?) {
    let (phase, continuation) = self.state.withLock { state in (state.phase, self.continuation) }
    switch phase {
    case .running: continuation?.yield(with: result, using: context)
    // The work of a cancelled run may go on, and need not be told apart.
    case .left: break
    case .timedOut: OperationWarning.abandonedYield(of: self.operation).report()
    case .ended, .over:
      OperationWarning.lateYield("A run of \(self.operation) yielded a result after it had returned").report()
    }
  }
}

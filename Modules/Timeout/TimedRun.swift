public import OperationCore
public import Synchronization

/// A run in a task of its own, which its caller can leave before it ends.
@usableFromInline
final class TimedRun<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Outcome = Result<Value, Failure>
  @usableFromInline typealias Waiter = UnsafeContinuation<Outcome?, Never>
  @usableFromInline typealias Continuation = OperationContinuation<Value, Failure>

  /// What the lock guards.
  @usableFromInline
  struct Guarded: Sendable {
    @usableFromInline var state = TimedRunState()
    /// Nil after the caller has left.
    @usableFromInline var continuation: Continuation?
    /// The outcome of a run that has ended before its caller waits.
    // An object: what has the type of a generic parameter inside is released by way of that type, which each run would
    // look up.
    @usableFromInline var earlyOutcome: RunOutcome?
    /// The caller, resumed with the outcome, or with nil when it has left.
    @usableFromInline var waiter: Waiter?
  }

  /// The type of the operation, for warnings.
  let operation: any Any.Type

  @usableFromInline let lock = Mutex(())
  // Unsafe only in name: `withGuarded` holds the lock. Beside it, because a `Mutex` of a generic value looks its type up
  // in each access: a timeout takes 55 A in place of 27. The lock makes the accesses exclusive.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var guarded: Guarded

  @usableFromInline
  init(of operation: any Any.Type, continuation: Continuation) {
    self.operation = operation
    self.guarded = Guarded(continuation: continuation)
  }

  /// Runs `body`, which must not call user code or release user values, with the lock held.
  @inlinable
  @inline(__always)
  func withGuarded<R: Sendable>(_ body: (inout Guarded) -> R) -> R {
    self.lock.withLock { _ in body(&self.guarded) }
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

extension TimedRun {
  /// Starts the run on the thread of the caller.
  ///
  /// - Returns: The outcome if the run has ended already, otherwise nil.
  @inlinable
  func start<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    _ attempts: TimedAttempts,
    in context: OperationContext,
    isolation: (any Actor)?,
    isCancelled: Bool
  ) -> Outcome? where Operation.Value == Value, Operation.Failure == Failure {
    let task = RunTask.start(in: context) {
      Task.immediate { await self.perform(operation, attempts, context, isolation, isCancelled) }
    } enqueuing: { executor in
      Task(executorPreference: executor) { await self.perform(operation, attempts, context, isolation, isCancelled) }
    }
    return self.withGuarded { guarded in
      if guarded.state.phase == .running { guarded.state.task = task }
      return guarded.earlyOutcome.take()
    }?.result(Value.self, Failure.self)
  }

  @inlinable
  func perform<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    _ attempts: TimedAttempts,
    _ context: OperationContext,
    _ isolation: (any Actor)?,
    _ isCancelled: Bool
  ) async where Operation.Value == Value, Operation.Failure == Failure {
    // A task of its own does not inherit the cancellation.
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let continuation = Continuation { result, context in self.yield(result, using: context) }
    do throws(Failure) {
      let value = try await operation.runWithAttempts(
        of: attempts.place,
        until: attempts.end,
        isolation: isolation,
        in: context,
        with: continuation
      )
      self.finish(.success(value))
    } catch {
      self.finish(.failure(error))
    }
  }

  @inlinable
  func finish(_ outcome: Outcome) {
    let (effects, waiter) = self.withGuarded { guarded in
      // The caller finds the outcome when its start returns, or when it begins to wait.
      if guarded.state.phase == .running, guarded.waiter == nil { guarded.earlyOutcome = RunOutcome.of(outcome) }
      return (guarded.state.finish(), guarded.waiter.take())
    }
    effects.perform()
    waiter?.resume(returning: outcome)
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
  nonisolated(nonsending) func end(
    by allowance: TimeAllowance,
    in context: OperationContext,
    canLeave: Bool
  ) async -> Outcome? {
    await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { self.suspend($0, allowance, context) }
      } onCancel: {
        self.callerWasCancelled(canLeave: canLeave)
      }
    } onPriorityEscalated: { _, priority in
      self.withGuarded { $0.state.task }?.escalatePriority(to: priority)
    }
  }

  /// Whether the caller was cancelled and has left the run.
  var hasLeft: Bool { self.withGuarded { $0.state.phase == .left } }

  private func suspend(
    _ waiter: Waiter,
    _ allowance: TimeAllowance,
    _ context: OperationContext
  ) {
    let (suspends, hasTimer, early) = self.withGuarded { guarded in
      let suspends = guarded.state.phase == .running
      if suspends { guarded.waiter = waiter }
      return (suspends, !guarded.state.isCancelled, guarded.earlyOutcome.take())
    }
    guard suspends else { return waiter.resume(returning: early?.result()) }
    guard hasTimer else { return }
    let timer = context.operationDeadlines.schedule(after: allowance.remaining(in: context)) { self.timeIsOver() }
    let isObsolete = self.withGuarded { guarded in
      guard guarded.state.phase == .running, !guarded.state.isCancelled else { return true }
      guarded.state.timer = timer
      return false
    }
    if isObsolete { timer.cancel() }
  }

  private func timeIsOver() {
    self.leave { $0.isCancelled ? nil : .timedOut }
  }

  private func callerWasCancelled(canLeave: Bool) {
    if canLeave { return self.leave { _ in .left } }
    self.withGuarded { $0.state.cancel() }.perform()
  }

  /// Lets the caller leave the run, if it has not ended and `phase` returns a phase, and cancels the run.
  private func leave(_ phase: (TimedRunState) -> TimedRunState.Phase?) {
    let (effects, waiter, continuation) = self.withGuarded {
      guarded -> (TimedRunState.Effects?, Waiter?, Continuation?) in
      guard guarded.state.phase == .running, let phase = phase(guarded.state) else { return (nil, nil, nil) }
      return (guarded.state.leave(phase), guarded.waiter.take(), guarded.continuation.take())
    }
    effects?.perform()
    waiter?.resume(returning: nil)
    _ = consume continuation  // Released after unlocking: it may hold objects of the caller.
  }
}

// MARK: - Yields

extension TimedRun {
  /// Passes a result on, unless the caller has left or the run has ended.
  // Not inlined: yields are rare.
  @usableFromInline
  func yield(_ result: Outcome, using context: OperationContext?) {
    let (phase, continuation) = self.withGuarded { guarded in
      (guarded.state.phase, guarded.state.phase == .running ? guarded.continuation : nil)
    }
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

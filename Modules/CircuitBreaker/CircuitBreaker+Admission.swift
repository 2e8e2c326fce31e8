internal import OperationCore

/// The admission of a run by a breaker.
struct CircuitAdmission: Sendable {
  /// The generation in which the result of the run counts.
  let generation: UInt64
  /// Whether the run is a probe of a half-open breaker.
  let isProbe: Bool
}

extension CircuitBreaker {
  /// The breakers whose probes the current task is part of.
  @TaskLocal static var probed: [ObjectIdentifier] = []

  /// Admits a run of a breaker that is not closed, or rejects it. A run that is no probe waits for their result.
  ///
  /// - Throws: ``CircuitOpen``; `CancellationError` at once when the task is cancelled while it waits.
  nonisolated(nonsending) func admission(in context: OperationContext) async throws -> CircuitAdmission {
    switch await self.decision(in: context) {
    case .admitted(let generation, let isProbe): return CircuitAdmission(generation: generation, isProbe: isProbe)
    case .rejected(let retryAfter):
      throw CircuitOpen(retryAfter: retryAfter, name: self.name, lastFailure: self.lastFailure.withLock { $0 })
    case .cancelled: throw CancellationError()
    }
  }

  private nonisolated(nonsending) func decision(in context: OperationContext) async -> CircuitDecision {
    let now = context.elapsed
    self.endHalfOpen(at: now, in: context)
    let probeWait = self.withMachine { $0.settings.probeWait }
    let longestWait = min(probeWait, context.operationTimeRemaining ?? probeWait)
    // A run inside of a probe would wait for itself.
    let mayWait = longestWait > .zero && !Self.probed.contains(ObjectIdentifier(self))
    let waiter = CircuitWaiter()
    let decision = self.change(in: context) { $0.admit(mayWait ? waiter : nil, at: now) }
    if let decision { return decision }
    let deadlines = context.operationDeadlines
    let timer = deadlines.schedule(after: longestWait) { [weak self] in
      self?.endHalfOpen(at: deadlines.elapsed.clampedForClock, in: context)
      self?.change { $0.endWait(of: waiter) }
    }
    // The time of the half-open breaker may end before. Then all waiting runs hear when it admits a run again. An update
    // may have taken that time away by then.
    let end = self.withMachine { $0.halfOpenEnd }.map { max($0 - now, .zero) }.flatMap { timeLeft in
      guard timeLeft < longestWait else { return OperationSubscription?.none }
      return deadlines.schedule(after: timeLeft) { [weak self] in
        self?.endHalfOpen(at: deadlines.elapsed.clampedForClock, in: context)
      }
    }
    let name = self.name.map { " \($0)" } ?? ""
    defer {
      timer.cancel()
      end?.cancel()
    }
    return await context.awaiting("the result of a probe of the circuit breaker\(name)") {
      await withTaskCancellationHandler {
        await Waiter.outcome { continuation in
          self.withMachine { _ in waiter.state.waiter.suspend(continuation) }
        }
      } onCancel: {
        self.change { $0.decide(.cancelled, for: waiter) }
      }
    }
  }
}

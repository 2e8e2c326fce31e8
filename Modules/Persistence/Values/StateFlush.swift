internal import OperationCore

/// A wait of `flush()`. It ends when the values are written, when writing has failed, or when the task is cancelled.
final class StateFlush: @unchecked Sendable {
  // Unchecked because of the variables, which the lock of the writer guards.

  /// The number of the newest change that the flush waits for.
  var number: UInt64 = 0
  /// Whether none of these changes was left out.
  var isComplete = true
  let outcome = AwaitedOutcome<Bool>()
}

/// An outcome that one task waits for.
final class AwaitedOutcome<Outcome: Sendable>: Sendable {
  private enum Phase: Sendable {
    case begun
    case waiting(UnsafeContinuation<Outcome, Never>)
    case ended(Outcome)
  }

  private let phase = Locked(Phase.begun)

  /// Waits for the outcome, or for the cancellation of the task, whose outcome is `cancelled`.
  func wait(cancelled: Outcome) async -> Outcome {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let outcome: Outcome? = self.phase.withLock { phase in
          if case .ended(let outcome) = phase { return outcome }
          phase = .waiting(continuation)
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      self.end(cancelled)
    }
  }

  /// Ends the wait. The first outcome counts.
  func end(_ outcome: Outcome) {
    let continuation: UnsafeContinuation<Outcome, Never>? = self.phase.withLock { phase in
      switch phase {
      case .begun:
        phase = .ended(outcome)
        return nil
      case .waiting(let continuation):
        phase = .ended(outcome)
        return continuation
      case .ended: return nil
      }
    }
    continuation?.resume(returning: outcome)
  }
}

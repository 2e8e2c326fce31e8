/// A single wait for a deadline. It ends once: at the deadline, or earlier if it is cancelled.
final class Sleeper: Sendable {
  private enum State: Sendable {
    case awake
    case asleep(UnsafeContinuation<Void, Never>, OperationSubscription?)
    case ended
  }

  private let state = Locked(State.awake)

  /// Suspends `continuation` until `end()` is called. `schedule` schedules that call.
  func begin(_ continuation: UnsafeContinuation<Void, Never>, schedule: () -> OperationSubscription) {
    let endedBefore = self.state.withLock { state in
      if case .ended = state { return true }
      state = .asleep(continuation, nil)
      return false
    }
    guard !endedBefore else { return continuation.resume() }
    let deadline = schedule()
    let endedMeanwhile = self.state.withLock { state in
      guard case .asleep(let continuation, _) = state else { return true }
      state = .asleep(continuation, deadline)
      return false
    }
    if endedMeanwhile { deadline.cancel() }
  }

  func end() {
    let (continuation, deadline) = self.state.withLock { state in
      defer { state = .ended }
      guard case .asleep(let continuation, let deadline) = state else {
        return (UnsafeContinuation<Void, Never>?.none, OperationSubscription?.none)
      }
      return (continuation, deadline)
    }
    deadline?.cancel()
    continuation?.resume()
  }
}

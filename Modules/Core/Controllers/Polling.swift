/// Reruns a store at an interval while it has subscribers.
///
/// The first rerun happens one interval after the first subscriber is added. A rerun is skipped when a run is under way
/// or the condition is not satisfied.
struct Polling<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let interval: Duration
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    guard self.interval > .zero else {
      OperationWarning(
        code: .invalidArgument,
        message: """
          The operation at \(controls.path) is to be rerun every \(self.interval), which would never end. It is not \
          polled. Give `.rerun(every:)` a duration greater than zero.
          """
      ).report()
      return .empty
    }
    let timer = PollingTimer()
    let activity = controls.observeActivity { self.follow(controls, with: timer) }
    self.follow(controls, with: timer)
    return .combined(activity, OperationSubscription { timer.stop() })
  }

  private func follow(_ controls: OperationControls<State>, with timer: PollingTimer) {
    if controls.subscriberCount == 0 { timer.pause() }
    // Checked again: a subscriber added before the pause found the timer still running.
    if controls.subscriberCount > 0 {
      timer.startIfPaused(after: self.interval, on: controls.context.operationDeadlines) {
        self.poll(controls)
        self.follow(controls, with: timer)
      }
    }
  }

  private func poll(_ controls: OperationControls<State>) {
    guard !controls.state.isLoading, self.specification.isSatisfied(in: controls.context) else { return }
    controls.rerunForSubscribers()
  }
}

/// A timer with at most one deadline at a time.
private final class PollingTimer: Sendable {
  private enum State: Sendable {
    case paused
    /// The number identifies the deadline, so that an earlier one that fires late is ignored.
    case running(UInt64, OperationSubscription?)
    case stopped
  }

  private let state = Locked<(State, last: UInt64)>((.paused, 0))

  func startIfPaused(
    after interval: Duration,
    on deadlines: any DeadlineSource,
    onFire: @escaping @Sendable () -> Void
  ) {
    let number: UInt64? = self.state.withLock { state in
      guard case .paused = state.0 else { return nil }
      state.last += 1
      state.0 = .running(state.last, nil)
      return state.last
    }
    guard let number else { return }
    let deadline = deadlines.schedule(after: interval) { [weak self] in
      if self?.fired(number) == true { onFire() }
    }
    let isObsolete = self.state.withLock { state in
      guard case .running(number, _) = state.0 else { return true }
      state.0 = .running(number, deadline)
      return false
    }
    if isObsolete { deadline.cancel() }
  }

  func pause() {
    self.end { if case .stopped = $0 { .stopped } else { .paused } }
  }

  func stop() {
    self.end { _ in .stopped }
  }

  private func fired(_ number: UInt64) -> Bool {
    // Returned so that the deadline is released after unlocking.
    let deadline: OperationSubscription?? = self.state.withLock { state in
      guard case .running(number, let deadline) = state.0 else { return nil }
      state.0 = .paused
      return .some(deadline)
    }
    return deadline != nil
  }

  private func end(_ next: (State) -> State) {
    let deadline: OperationSubscription? = self.state.withLock { state in
      defer { state.0 = next(state.0) }
      guard case .running(_, let deadline) = state.0 else { return nil }
      return deadline
    }
    deadline?.cancel()
  }
}

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
          The operation at \(controls.path) cannot be rerun every \(self.interval). It is not rerun at an interval. Give \
          `.rerun(every:)` a duration greater than zero.
          """
      ).report()
      return .empty
    }
    let timer = PollingTimer()
    let activity = controls.observeActivity { self.follow(controls, with: timer) }
    self.follow(controls, with: timer)
    return .combined(
      activity,
      OperationSubscription {
        timer.stop()
        controls.runtime.note(nil, of: timer)
      }
    )
  }

  /// Starts or stops the timer according to the number of subscribers.
  private func follow(_ controls: OperationControls<State>, with timer: PollingTimer) {
    if controls.subscriberCount == 0 {
      timer.pause()
      controls.runtime.note(nil, of: timer)
    }
    // Checked again: a subscriber added before the pause found the timer still running.
    if controls.subscriberCount > 0 {
      let deadlines = controls.context.operationDeadlines
      let isStarted = timer.startIfPaused(after: self.interval, on: deadlines) {
        self.poll(controls)
        self.follow(controls, with: timer)
      }
      if isStarted {
        let elapsed = deadlines.elapsed.clampedForClock + self.interval.clampedForClock
        controls.runtime.note(PlannedPoll(elapsed: elapsed, specification: self.specification), of: timer)
      }
    }
  }

  private func poll(_ controls: OperationControls<State>) {
    guard !controls.state.isLoading, self.specification.isSatisfied(in: controls.context) else { return }
    controls.rerunForSubscribers(OperationRunCause(.polling(self.interval)))
  }
}

/// A timer that can be paused and started again, with at most one deadline at a time.
private final class PollingTimer: Sendable {
  private struct State: Sendable {
    var deadline = SubscriptionSlot()
    var isStopped = false
  }

  private let state = Locked(State())

  /// Starts the timer unless it runs. Returns whether it did.
  func startIfPaused(
    after interval: Duration,
    on deadlines: any DeadlineSource,
    onFire: @escaping @Sendable () -> Void
  ) -> Bool {
    let number = self.state.withLock { state in
      state.isStopped || state.deadline.isTaken ? nil : state.deadline.reserve()
    }
    guard let number else { return false }
    let deadline = deadlines.schedule(after: interval) { [weak self] in
      if self?.fired(number) == true { onFire() }
    }
    self.state.withLock { $0.deadline.keep(deadline, number: number) }?.cancel()
    return true
  }

  func pause() {
    self.state.withLock { $0.deadline.clear() }?.cancel()
  }

  func stop() {
    let deadline = self.state.withLock { state in
      state.isStopped = true
      return state.deadline.clear()
    }
    deadline?.cancel()
  }

  /// Returns whether the deadline with this number was the current one, and forgets it.
  private func fired(_ number: UInt64) -> Bool {
    // The deadline is returned so that the caller releases it after unlocking.
    let deadline: OperationSubscription?? = self.state.withLock { state in
      state.deadline.isCurrent(number) ? .some(state.deadline.clear()) : nil
    }
    return deadline != nil
  }
}

/// The next poll of a store by one of its timers, for inspections.
struct PlannedPoll: Sendable {
  /// The elapsed time of the deadlines at which it is due.
  let elapsed: Duration
  /// The poll is skipped while this does not hold.
  let specification: any OperationRunSpecification & Sendable
}

extension StoreRuntime {
  /// Notes the next poll by a timer; nil if there is none.
  fileprivate func note(_ poll: PlannedPoll?, of timer: PollingTimer) {
    let replaced = self.withMachine { machine -> PlannedPoll? in
      if poll == nil, machine.extras == nil { return nil }
      let (extras, id) = (machine.uniqueExtras(), ObjectIdentifier(timer))
      defer { extras.content.polls[id] = poll }
      return extras.content.polls[id]
    }
    _ = consume replaced  // Released after unlocking.
  }
}

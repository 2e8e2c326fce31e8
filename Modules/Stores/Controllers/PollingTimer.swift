/// A timer that can be paused and started again, with at most one deadline at a time.
final class PollingTimer: Sendable {
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

  /// Starts the timer, in place of the time that it runs.
  func restart(after interval: Duration, on deadlines: any DeadlineSource, onFire: @escaping @Sendable () -> Void) {
    let number = self.state.withLock { state in state.isStopped ? nil : state.deadline.reserve() }
    guard let number else { return }
    let deadline = deadlines.schedule(after: interval) { [weak self] in
      if self?.fired(number) == true { onFire() }
    }
    self.state.withLock { $0.deadline.keep(deadline, number: number) }?.cancel()
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
  func note(_ poll: PlannedPoll?, of timer: PollingTimer) {
    let replaced = self.withMachine { machine -> PlannedPoll? in
      if poll == nil, machine.extras == nil { return nil }
      let (extras, id) = (machine.uniqueExtras(), ObjectIdentifier(timer))
      defer { extras.content.polls[id] = poll }
      return extras.content.polls[id]
    }
    _ = consume replaced  // Released after unlocking.
  }
}

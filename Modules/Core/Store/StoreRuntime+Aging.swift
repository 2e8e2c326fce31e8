internal import OperationFoundation

/// The deadline at which the value of a store becomes stale by its age, while somebody reads the events of its client.
final class AgeWatch: Sendable {
  private struct State: Sendable {
    var slot = SubscriptionSlot()
    /// When the value becomes stale, by the clock of the store.
    var end: Date?
  }

  private let state = Locked(State())

  deinit {
    self.cancel()
  }

  /// Reserves the deadline for a value that becomes stale at `end`.
  ///
  /// - Returns: The number to pass to ``keep(_:number:)``, and the deadline to cancel; nil if there is one that is as
  ///   early, which will find out that the value was renewed.
  func reserve(until end: Date) -> (number: UInt64, former: OperationSubscription?)? {
    self.state.withLock { state in
      if state.slot.isTaken, let known = state.end, known <= end { return nil }
      let former = state.slot.clear()
      state.end = end
      return (state.slot.reserve(), former)
    }
  }

  func keep(_ deadline: OperationSubscription, number: UInt64) {
    self.state.withLock { $0.slot.keep(deadline, number: number) }?.cancel()
  }

  func cancel() {
    self.state.withLock { $0.slot.clear() }?.cancel()
  }
}

extension StoreRuntime {
  /// Waits until the value becomes stale by its age, to tell the readers of events.
  func watchAge(_ history: StoreHistory) {
    let context = self.context
    guard let end = self.staleness.freshUntil, let (number, former) = history.ageWatch.reserve(until: end) else {
      return
    }
    former?.cancel()
    // At least a little later, because the deadlines of a program may run ahead of its clock.
    let rest = max(Duration.since(context.date, at: end), .milliseconds(1))
    let deadline = context.operationDeadlines.schedule(after: rest) { [weak self, weak history] in
      if let self, let history { self.ageIsReached(history) }
    }
    history.ageWatch.keep(deadline, number: number)
  }

  private func ageIsReached(_ history: StoreHistory) {
    history.ageWatch.cancel()
    let staleness = self.staleness
    if case .rule(let reason) = staleness.reason, staleness.since != nil {
      self.record(.becameStale(because: reason), by: OperationRunCause(.age, subject: reason))
    } else if self.context.eventHub?.hasReaders == true {
      // The value was renewed meanwhile.
      self.watchAge(history)
    }
  }
}

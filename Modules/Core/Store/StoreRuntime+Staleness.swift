internal import OperationFoundation

/// Waits until a rule makes the value of a store stale. It is used only while somebody reads the events of the client.
final class StalenessWatch: Sendable {
  private struct State: Sendable {
    /// The deadline at which the value reaches its age.
    var deadline = SubscriptionSlot()
    /// When the value becomes stale, by the clock of the store.
    var end: Date?
    /// The subscription to the conditions that make the value stale.
    var conditions = SubscriptionSlot()
    /// Whether the value was stale at the last check; nil before the first.
    var wasStale: Bool?
  }

  private let state = Locked(State())

  deinit {
    let (deadline, conditions) = self.state.withLock { ($0.deadline.clear(), $0.conditions.clear()) }
    deadline?.cancel()
    conditions?.cancel()
  }

  /// Reserves the deadline for a value that becomes stale at `end`.
  ///
  /// - Returns: The number to pass to ``keep(_:number:)``, and the deadline to cancel. Nil if there is a deadline that
  ///   is not later: when it has come, it checks whether the value was renewed.
  func reserve(until end: Date) -> (number: UInt64, former: OperationSubscription?)? {
    self.state.withLock { state in
      if state.deadline.isTaken, let known = state.end, known <= end { return nil }
      let former = state.deadline.clear()
      state.end = end
      return (state.deadline.reserve(), former)
    }
  }

  func keep(_ deadline: OperationSubscription, number: UInt64) {
    self.state.withLock { $0.deadline.keep(deadline, number: number) }?.cancel()
  }

  func endDeadline() {
    self.state.withLock { $0.deadline.clear() }?.cancel()
  }

  /// Subscribes to the conditions with `subscribe`, unless they are subscribed to.
  func watchConditions(_ subscribe: () -> OperationSubscription) {
    let number = self.state.withLock { $0.conditions.isTaken ? nil : $0.conditions.reserve() }
    guard let number else { return }
    let subscription = subscribe()
    self.state.withLock { $0.conditions.keep(subscription, number: number) }?.cancel()
  }

  /// Notes whether the value is stale.
  ///
  /// - Returns: Whether the value has become stale with this.
  func note(isStale: Bool) -> Bool {
    self.state.withLock { state in
      defer { state.wasStale = isStale }
      return isStale && state.wasStale == false
    }
  }
}

extension StoreRuntime {
  /// If a rule may apply, begins to report to the readers of events that the value has become stale.
  ///
  /// Called for each present store when the first reader comes.
  func watchStalenessForReaders() {
    guard self.context.mayNameFreshPeriods else { return }
    self.watchStaleness(self.makeHistory(wasAskedFor: false))
  }

  /// Checks whether the value is stale by a rule, reports it to the readers of events, and waits for the next change.
  func watchStaleness(_ history: StoreHistory) {
    let context = self.context
    history.staleness.watchConditions {
      context.stalenessRules.subscribe(in: context) { [weak self, weak history] in
        if let self, let history { self.lookAtStaleness(history) }
      }
    }
    let staleness = self.lookAtStaleness(history)
    guard let end = staleness.freshUntil, let (number, former) = history.staleness.reserve(until: end) else { return }
    former?.cancel()
    // The wait is at least a little longer, because the deadlines of a program may run ahead of its clock.
    let rest = max(Duration.since(context.date, at: end), .milliseconds(1))
    let deadline = context.operationDeadlines.schedule(after: rest) { [weak self, weak history] in
      if let self, let history { self.ageIsReached(history) }
    }
    history.staleness.keep(deadline, number: number)
  }

  private func ageIsReached(_ history: StoreHistory) {
    history.staleness.endDeadline()
    // The value may have been renewed meanwhile.
    if !self.lookAtStaleness(history).isStale, self.context.eventHub?.hasReaders == true {
      self.watchStaleness(history)
    }
  }

  /// Reports to the readers of events that the value has become stale by a rule. An invalidation is an event of its
  /// own.
  @discardableResult
  private func lookAtStaleness(_ history: StoreHistory) -> OperationStaleness {
    let staleness = self.staleness
    guard history.staleness.note(isStale: staleness.isStale), case .rule(let reason) = staleness.reason else {
      return staleness
    }
    let cause = staleness.since == nil ? .condition(reason) : OperationRunCause(.age, subject: reason)
    self.record(.becameStale(because: reason), by: cause)
    return staleness
  }
}

internal import OperationCore
internal import OperationFoundation

/// Waits until a rule makes the value of a store stale, for the readers of a client's events.
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
  private let onStale: @Sendable (_ reason: String, OperationRunCause, StoreReference) -> Void

  /// Creates a watch.
  ///
  /// - Parameter onStale: Called with no lock held when a rule has made the value stale. An invalidation is an event of
  ///   its own.
  init(onStale: @escaping @Sendable (_ reason: String, OperationRunCause, StoreReference) -> Void) {
    self.onStale = onStale
  }

  deinit {
    let (deadline, conditions) = self.state.withLock { ($0.deadline.clear(), $0.conditions.clear()) }
    deadline?.cancel()
    conditions?.cancel()
  }

  /// Checks whether the value is stale by a rule, reports it, and waits for the next change.
  func look(at store: StoreReference) {
    let context = store.context
    self.watchConditions {
      context.subscribeToStaleness { [weak self, weak store] in
        if let self, let store { self.check(store) }
      }
    }
    guard let end = self.check(store)?.freshUntil, let (number, former) = self.reserve(until: end) else { return }
    former?.cancel()
    // The wait is at least a little longer, because the deadlines of a program may run ahead of its clock.
    let rest = max(Duration.since(context.date, at: end), .milliseconds(1))
    let deadline = context.operationDeadlines.schedule(after: rest) { [weak self, weak store] in
      if let self, let store { self.ageIsReached(store) }
    }
    self.state.withLock { $0.deadline.keep(deadline, number: number) }?.cancel()
  }

  private func ageIsReached(_ store: StoreReference) {
    self.state.withLock { $0.deadline.clear() }?.cancel()
    // The value may have been renewed meanwhile.
    if self.check(store)?.isStale == false { self.look(at: store) }
  }

  /// Returns what it found; nil if the store is gone.
  @discardableResult
  private func check(_ store: StoreReference) -> OperationStaleness? {
    guard let staleness = store.store?.staleness else { return nil }
    let hasBecomeStale = self.state.withLock { state in
      defer { state.wasStale = staleness.isStale }
      return staleness.isStale && state.wasStale == false
    }
    guard hasBecomeStale, case .rule(let reason) = staleness.reason else { return staleness }
    let cause = staleness.since == nil ? .condition(reason) : OperationRunCause(.age, subject: reason)
    self.onStale(reason, cause, store)
    return staleness
  }

  /// Reserves the deadline for a value that becomes stale at `end`.
  ///
  /// - Returns: The number of the reservation, and the deadline to cancel. Nil if there is a deadline that is not later:
  ///   when it has come, it checks whether the value was renewed.
  private func reserve(until end: Date) -> (number: UInt64, former: OperationSubscription?)? {
    self.state.withLock { state in
      if state.deadline.isTaken, let known = state.end, known <= end { return nil }
      let former = state.deadline.clear()
      state.end = end
      return (state.deadline.reserve(), former)
    }
  }

  /// Subscribes to the conditions with `subscribe`, unless they are subscribed to.
  private func watchConditions(_ subscribe: () -> OperationSubscription) {
    let number = self.state.withLock { $0.conditions.isTaken ? nil : $0.conditions.reserve() }
    guard let number else { return }
    let subscription = subscribe()
    self.state.withLock { $0.conditions.keep(subscription, number: number) }?.cancel()
  }
}

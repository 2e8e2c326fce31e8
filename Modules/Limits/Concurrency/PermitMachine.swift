package import OperationCore

/// A number of permits, and the waiters for them in the order in which they came.
///
/// While there is a waiter, no permit is free.
package struct PermitMachine: LimitMachine {
  /// The number of permits. An adaptive limit changes it; more may be in use for a while then.
  package private(set) var limit: Int
  package private(set) var inUse = 0
  private let maximumWaiting: Int
  private var waiters = LimitWaiterList()
  /// The waiters with a longest wait.
  private var dues = DeadlineHeap<LimitWaiter>()
  package var decided: [LimitWaiter] = []

  package init(limit: Int, maximumWaiting: Int) {
    self.limit = limit
    self.maximumWaiting = maximumWaiting
  }

  package var waiterCount: Int { self.waiters.count }
  var firstWaiter: LimitWaiter? { self.waiters.first }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let first = self.dues.first, let due = first.due else { return nil }
    return (due, first.deadlines)
  }

  /// Takes a permit unless none is free.
  package mutating func take() -> Bool {
    guard self.inUse < self.limit else { return false }
    self.inUse += 1
    return true
  }

  /// Returns a permit if no waiter needs it. Otherwise it does nothing, and returns false.
  package mutating func giveBackUnlessAwaited() -> Bool {
    guard self.waiters.first == nil else { return false }
    self.inUse -= 1
    return true
  }

  /// Returns a permit, which goes to the first waiter.
  package mutating func giveBack() {
    self.inUse -= 1
    self.admitWaiters()
  }

  /// Returns a permit, and sets the number of permits.
  package mutating func giveBack(settingLimit limit: Int) {
    self.inUse -= 1
    self.setLimit(limit)
  }

  package mutating func setLimit(_ limit: Int) {
    self.limit = limit
    self.admitWaiters()
  }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    if self.take() { return .admitted }
    if self.waiters.count >= self.maximumWaiting { return .rejected(retryAfter: nil) }
    if let due = waiter.due {
      if due <= now { return .rejected(retryAfter: nil) }
      self.dues.insert(waiter)
    }
    self.waiters.append(waiter)
    return nil
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.waiters.remove(waiter)
    self.dues.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    while let first = self.dues.first, let due = first.due, due <= now {
      self.remove(first)
      self.decide(.rejected(retryAfter: nil), for: first)
    }
  }

  private mutating func admitWaiters() {
    while let first = self.waiters.first, self.take() {
      self.remove(first)
      self.decide(.admitted, for: first)
    }
  }
}

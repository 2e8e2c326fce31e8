package import OperationCore

/// A number of permits, and the waiters for them, first come first served among those that matter equally.
///
/// While there is a waiter, no permit is free.
package struct PermitMachine: LimitMachine {
  /// The number of permits. An adaptive limit changes it; more may be in use for a while then.
  package private(set) var limit: Int
  package private(set) var inUse = 0
  var queue: WaiterQueue

  package init(limit: Int, maximumWaiting: Int, order: LimitOrder = .firstComeFirstServed) {
    self.limit = limit
    self.queue = WaiterQueue(maximum: maximumWaiting, order: order)
  }

  package var waiterCount: Int { self.queue.count }
  package var rejections: Int { self.queue.rejections }
  package var firstWaiter: LimitWaiter? { self.queue.first }

  package var decided: [LimitWaiter] {
    get { self.queue.decided }
    _modify { yield &self.queue.decided }
  }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? { self.queue.alarm }

  /// Takes a permit unless none is free.
  package mutating func take() -> Bool {
    guard self.inUse < self.limit else { return false }
    self.inUse += 1
    return true
  }

  /// Returns a permit if no waiter needs it. Otherwise it does nothing, and returns false.
  package mutating func giveBackUnlessAwaited() -> Bool {
    guard self.queue.count == 0 else { return false }
    self.inUse -= 1
    return true
  }

  /// Returns a permit, which goes to the waiter whose turn it is.
  package mutating func giveBack(at now: Duration) {
    self.inUse -= 1
    self.admitWaiters(at: now)
  }

  /// Returns a permit, and sets the number of permits.
  package mutating func giveBack(settingLimit limit: Int, at now: Duration) {
    self.inUse -= 1
    self.setLimit(limit, at: now)
  }

  package mutating func setLimit(_ limit: Int, at now: Duration) {
    self.limit = limit
    self.admitWaiters(at: now)
  }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    self.take() ? .admitted : self.queue.join(waiter, at: now)
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.queue.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    self.queue.expire(at: now)
  }

  private mutating func admitWaiters(at now: Duration) {
    while self.inUse < self.limit, self.queue.admitNext(at: now) { self.inUse += 1 }
  }
}

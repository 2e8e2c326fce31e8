package import OperationCore

/// The generic cell rate algorithm (ITU-T I.371), and the waiters in the order in which they came.
///
/// Times are multiplied by the number of runs of a period, so that the interval between two runs is an integer: three
/// runs a second are exact. All products fit into 128 bits because times, counts and bursts are bounded.
package struct RateMachine: LimitMachine {
  /// The number of runs in a period.
  private let count: Int128
  /// The interval between two runs at the limited rate.
  private let interval: Int128
  /// How far ahead of the limited rate a run may begin.
  private let tolerance: Int128
  /// The time at which the next run would begin if all runs came at exactly the limited rate.
  private var theoreticalArrival: Int128 = 0
  /// The latest time that a caller has passed. The time of a limit never decreases.
  private var latest: Int128 = 0
  private var waiters = LimitWaiterList()
  package var decided: [LimitWaiter] = []

  package init(count: Int, period: Duration, burst: Int) {
    self.count = Int128(count)
    self.interval = period.attoseconds
    self.tolerance = Int128(burst - 1) * self.interval
  }

  package var waiterCount: Int { self.waiters.count }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let first = self.waiters.first else { return nil }
    // Rounded up, so that the run is admitted at the alarm.
    let due = (max(self.theoreticalArrival - self.tolerance, self.latest) + self.count - 1) / self.count
    return (Duration(attoseconds: due), first.deadlines)
  }

  /// Takes a permit unless there is none, or earlier runs wait for it.
  package mutating func take(at now: Duration) -> Bool {
    self.advance(to: now)
    guard self.waiters.first == nil else { return false }
    return self.takeNext()
  }

  /// Returns a permit that was not used.
  package mutating func giveBack(at now: Duration) {
    self.advance(to: now)
    self.theoreticalArrival -= self.interval
    self.admitWaiters()
  }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    if self.take(at: now) { return .admitted }
    // The waiters before this one get the next permits.
    let start = max(self.theoreticalArrival, self.latest) + Int128(self.waiters.count) * self.interval - self.tolerance
    let begin = Duration(attoseconds: (start + self.count - 1) / self.count)
    if let due = waiter.due, begin > due { return .rejected(retryAfter: begin - now) }
    self.waiters.append(waiter)
    return nil
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.waiters.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    self.advance(to: now)
    self.admitWaiters()
  }

  private mutating func advance(to now: Duration) {
    // The product fits, and an overflow check of 128 bits would take most of the time here.
    self.latest = max(self.latest, now.attoseconds &* self.count)
  }

  private mutating func takeNext() -> Bool {
    let arrival = max(self.theoreticalArrival, self.latest)
    guard arrival - self.latest <= self.tolerance else { return false }
    self.theoreticalArrival = arrival + self.interval
    return true
  }

  private mutating func admitWaiters() {
    while let first = self.waiters.first, self.takeNext() {
      self.remove(first)
      self.decide(.admitted, for: first)
    }
  }
}

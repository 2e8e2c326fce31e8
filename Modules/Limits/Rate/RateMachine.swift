package import OperationCore

/// The generic cell rate algorithm (ITU-T I.371), and the waiters, first come first served among those that matter
/// equally.
///
/// Times are multiplied by the number of runs of a period, so that the interval between two runs is an integer: three
/// runs a second are exact. All products fit into 128 bits because times, counts and bursts are bounded.
package struct RateMachine: LimitMachine {
  /// The number of runs in a period.
  private(set) var count: Int128
  /// The interval between two runs at the limited rate.
  private(set) var interval: Int128
  /// How far ahead of the limited rate a run may begin.
  private(set) var tolerance: Int128
  /// The time at which the next run would begin if all runs came at exactly the limited rate.
  private var theoreticalArrival: Int128 = 0
  /// The latest time that a caller has passed. The time of a limit never decreases.
  private var latest: Int128 = 0
  /// The number of permits that were taken. It is the number of the last one.
  package private(set) var taken: UInt64 = 0
  /// The time at which the last permit was taken.
  private var lastTake: Int128 = 0
  /// The numbers of the last permits that came back unused, in ascending order.
  private var returned: [UInt64] = []
  /// The deadlines of the first run, which all runs share; nil before.
  private(set) var deadlines: (any DeadlineSource)?
  var queue: WaiterQueue

  package init(count: Int, period: Duration, burst: Int, maximumWaiting: Int = 10_000) {
    self.count = Int128(count)
    self.interval = period.attoseconds
    self.tolerance = Int128(burst - 1) * self.interval
    self.queue = WaiterQueue(maximum: maximumWaiting)
  }

  package var waiterCount: Int { self.queue.count }
  package var rejections: Int { self.queue.rejections }

  package var decided: [LimitWaiter] {
    get { self.queue.decided }
    _modify { yield &self.queue.decided }
  }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let first = self.queue.first else { return nil }
    // Rounded up, so that the run is admitted at the alarm.
    let turn = (max(self.theoreticalArrival - self.tolerance, self.latest) + self.count - 1) / self.count
    let next = Duration(attoseconds: turn)
    return self.queue.alarm.flatMap { $0.due < next ? $0 : nil } ?? (next, first.deadlines)
  }

  /// The number of runs that may begin at once after a pause.
  package var burst: Int { Int(self.tolerance / self.interval) + 1 }

  /// The length of the period.
  package var period: Duration { Duration(attoseconds: self.interval) }

  /// The number of runs that may begin in a second in the long run.
  package var ratePerSecond: Double { Double(self.count) / self.period.seconds }

  var settings: RateSettings {
    RateSettings(
      ratePerSecond: self.ratePerSecond,
      period: self.period,
      burst: self.burst,
      queue: self.queue.settings
    )
  }

  /// The permits that are missing from the bucket, rounded up.
  package func missing(at now: Duration?) -> Int {
    let time = now.map { max(self.latest, $0.attoseconds &* self.count) } ?? self.latest
    return Int((max(self.theoreticalArrival - time, 0) + self.interval - 1) / self.interval)
  }

  /// Keeps the deadlines of the first run. Has to be called until a permit was taken.
  mutating func noteDeadlines(_ deadlines: any DeadlineSource) {
    if self.deadlines == nil { self.deadlines = deadlines }
  }

  /// Takes a permit unless there is none, or earlier runs wait for it.
  package mutating func take(at now: Duration) -> Bool {
    self.advance(to: now)
    guard self.queue.count == 0 else { return false }
    return self.takeNext()
  }

  /// Returns a permit that was not used, as far as the bucket would have more without it.
  ///
  /// A bucket that was full since would have overflowed without the permit, which then is lost: a permit that comes back
  /// late makes no larger burst.
  ///
  /// - Parameters:
  ///   - number: The number of the permit: ``taken`` when it was taken.
  ///   - now: The elapsed time.
  package mutating func giveBack(_ number: UInt64, at now: Duration) {
    self.advance(to: now)
    let index = self.returned.lastIndex { $0 < number }.map { $0 + 1 } ?? 0
    // Permits that were taken later, and were not returned, came at the last of these times at the latest.
    let later = Int128(self.taken - number) - Int128(self.returned.count - index)
    let earliest = self.lastTake + later * self.interval
    let shifted = max(self.theoreticalArrival - self.interval, earliest)
    self.theoreticalArrival = min(self.theoreticalArrival, shifted)
    self.returned.insert(number, at: index)
    // Without the oldest numbers, less comes back.
    if self.returned.count > Self.returnedCapacity { self.returned.removeFirst() }
    self.admitWaiters()
  }

  private static let returnedCapacity = 256

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    if self.take(at: now) {
      waiter.permit = self.taken
      return .admitted
    }
    // The waiters before this one get the next permits.
    let earlier = Int128(self.queue.count(before: waiter.criticality))
    let start = max(self.theoreticalArrival, self.latest) + earlier * self.interval - self.tolerance
    let begin = Duration(attoseconds: (start + self.count - 1) / self.count)
    if let due = waiter.due, begin > due { return self.queue.refuse(retryAfter: begin - now) }
    return self.queue.join(waiter, at: now, retryAfter: begin - now)
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.queue.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    self.advance(to: now)
    self.admitWaiters()
    self.queue.expire(at: now)
  }

  private mutating func advance(to now: Duration) {
    // The product fits, and an overflow check of 128 bits would take most of the time here.
    self.latest = max(self.latest, now.attoseconds &* self.count)
  }

  private mutating func takeNext() -> Bool {
    let arrival = max(self.theoreticalArrival, self.latest)
    guard arrival - self.latest <= self.tolerance else { return false }
    self.theoreticalArrival = arrival + self.interval
    self.taken += 1
    self.lastTake = self.latest
    return true
  }

  private mutating func admitWaiters() {
    while self.queue.count > 0, self.takeNext() {
      if self.queue.admitNext(at: Duration(attoseconds: self.latest / self.count)) {
        self.queue.decided.last?.permit = self.taken
      }
    }
  }
}

// MARK: - Another rate

extension RateMachine {
  /// Changes the rate. The permits that are missing from the bucket stay missing, and come back at the new rate.
  ///
  /// - Parameters:
  ///   - count: The number of runs in a period.
  ///   - period: The length of the period.
  ///   - burst: The number of runs that may begin at once after a pause.
  ///   - now: The elapsed time, until which permits come at the old rate; nil for the last known time.
  package mutating func setRate(count: Int, period: Duration, burst: Int, at now: Duration?) {
    if let now { self.advance(to: now) }
    let time = self.latest / self.count
    let owed = max(self.theoreticalArrival - self.latest, 0)
    let (oldInterval, newInterval) = (self.interval, period.attoseconds)
    self.count = Int128(count)
    self.interval = newInterval
    self.tolerance = Int128(burst - 1) * newInterval
    self.latest = time &* self.count
    // At the new rate an earlier time would let more come back.
    self.lastTake = self.latest
    self.theoreticalArrival = self.latest + owed.scaled(by: newInterval, over: oldInterval)
    self.admitWaiters()
  }
}

/// What an update may change of a rate limit.
struct RateSettings: Sendable {
  let ratePerSecond: Double
  let period: Duration
  let burst: Int
  let queue: QueueSettings
}

extension Int128 {
  /// This number times `factor` through `divisor`, rounded up so that no part of a permit is gained. All are positive.
  fileprivate func scaled(by factor: Int128, over divisor: Int128) -> Int128 {
    if factor == divisor { return self }
    let product = self.multipliedFullWidth(by: factor)
    let (quotient, remainder) = divisor.dividingFullWidth((product.high, product.low))
    return quotient + (remainder > 0 ? 1 : 0)
  }
}

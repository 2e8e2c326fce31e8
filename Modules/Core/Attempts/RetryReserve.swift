/// The attempts that need no deposit: a token bucket with the capacity that it gains in a second.
struct RetryReserve: Sendable {
  private static let second: Int128 = 1_000_000_000_000_000_000

  private var perSecond: Fraction
  // In units that make all arithmetic exact: an attosecond adds as many units as the rate's numerator.
  private var capacity: Int128
  private var cost: Int128
  private var units: Int128
  private var updated = Duration.zero

  init(perSecond: Fraction) {
    self.perSecond = perSecond
    self.cost = Int128(perSecond.denominator) * Self.second
    // At least one attempt, for rates below one a second.
    self.capacity = perSecond == .zero ? 0 : max(self.cost, Int128(perSecond.numerator) * Self.second)
    self.units = self.capacity
  }

  mutating func count(at now: Duration) -> Int {
    self.refill(at: now)
    return Int(clamping: self.units / self.cost)
  }

  mutating func take(at now: Duration) -> Bool {
    self.refill(at: now)
    guard self.units >= self.cost else { return false }
    self.units -= self.cost
    return true
  }

  /// Adds what was taken for an attempt that was not made.
  mutating func giveBack(at now: Duration) {
    self.refill(at: now)
    self.units = min(self.capacity, self.units + self.cost)
  }

  /// Changes the rate. What is there stays, up to the capacity of the new rate.
  mutating func change(perSecond: Fraction, at now: Duration) {
    self.refill(at: now)
    // A reserve without a rate holds nothing, so its cost does not matter.
    let (whole, rest) = self.units.quotientAndRemainder(dividingBy: self.cost)
    var changed = RetryReserve(perSecond: perSecond)
    let scaled = whole * changed.cost + rest / Int128(self.perSecond.denominator) * Int128(perSecond.denominator)
    changed.units = min(changed.capacity, scaled)
    changed.updated = now
    self = changed
  }

  private mutating func refill(at now: Duration) {
    let time = (now - self.updated).attoseconds
    self.updated = now
    let (gain, overflow) = time.multipliedReportingOverflow(by: Int128(self.perSecond.numerator))
    self.units = overflow ? self.capacity : min(self.capacity, self.units + min(gain, self.capacity))
  }
}

internal import OperationCore

/// The attempts that need no deposit: a token bucket with the capacity that it gains in ten seconds.
///
/// An attempt may take one before it is there, and then waits until it is.
struct RetryReserve: Sendable {
  private static let second: Int128 = 1_000_000_000_000_000_000
  /// The seconds after which deposits expire, too.
  private static let seconds: Int128 = 10

  private var perSecond: Fraction
  // In units that make all arithmetic exact: an attosecond adds as many units as the rate's numerator.
  private var capacity: Int128
  private var cost: Int128
  /// Below zero while attempts wait for what they have taken.
  private var units: Int128
  private var updated = Duration.zero

  init(perSecond: Fraction) {
    self.perSecond = perSecond
    self.cost = Int128(perSecond.denominator) * Self.second
    // At least one attempt, for rates below one a second.
    self.capacity = perSecond == .zero ? 0 : max(self.cost, Int128(perSecond.numerator) * Self.second * Self.seconds)
    self.units = self.capacity
  }

  mutating func count(at now: Duration) -> Int {
    self.refill(at: now)
    return Int(clamping: max(self.units, 0) / self.cost)
  }

  /// Takes an attempt that is there, or will be soon.
  ///
  /// - Parameters:
  ///   - longest: The longest time until it is there.
  ///   - now: The elapsed time.
  /// - Returns: The time until it is there; nil if that is too long, and nothing is taken.
  mutating func take(within longest: Duration, at now: Duration) -> Duration? {
    self.refill(at: now)
    var wait = Duration.zero
    let missing = self.cost - self.units
    if missing > 0 {
      guard self.perSecond != .zero else { return nil }
      let rate = Int128(self.perSecond.numerator)
      wait = Duration(attoseconds: (missing + rate - 1) / rate)
    }
    guard wait <= max(longest, .zero) else { return nil }
    self.units -= self.cost
    return wait
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

/// A token bucket whose time never decreases, as a reference for rate limits. It counts fractions of tokens in
/// integers.
struct TokenBucket {
  var count: Int128
  var period: Int128
  var capacity: Int128
  /// The content: `period` units are one token.
  var units: Int128
  var latest: Int128 = 0

  init(count: Int, period: Duration, burst: Int) {
    self.count = Int128(count)
    self.period = period.attoseconds
    self.capacity = Int128(burst) * self.period
    self.units = self.capacity
  }

  mutating func take(at now: Duration) -> Bool {
    let time = max(self.latest, now.attoseconds)
    self.units = min(self.capacity, self.units + (time - self.latest) * self.count)
    self.latest = time
    guard self.units >= self.period else { return false }
    self.units -= self.period
    return true
  }

  /// Changes the rate. What is missing in the bucket stays missing; a part of a token is rounded up.
  mutating func setRate(count: Int, period: Duration, burst: Int, at now: Duration) {
    let time = max(self.latest, now.attoseconds)
    self.units = min(self.capacity, self.units + (time - self.latest) * self.count)
    self.latest = time
    let missing = self.capacity - self.units
    // Seconds, so that the product fits.
    let (second, earlier) = (Duration.seconds(1).attoseconds, self.period)
    let scaled = (missing * (period.attoseconds / second) + earlier / second - 1) / (earlier / second)
    self.count = Int128(count)
    self.period = period.attoseconds
    self.capacity = Int128(burst) * self.period
    self.units = self.capacity - scaled
  }
}

/// A token bucket whose time never decreases, as a reference for rate limits. It counts fractions of tokens in
/// integers.
struct TokenBucket {
  let count: Int128
  let period: Int128
  let capacity: Int128
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
}

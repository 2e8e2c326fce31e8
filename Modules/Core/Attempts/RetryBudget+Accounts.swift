/// The deposits of the last ten seconds, in slices of one second.
struct DepositWindow: Sendable {
  private static let sliceCount = 10

  private var slices = [Int](repeating: 0, count: Self.sliceCount)
  /// The number of the newest slice, which is the second of its time.
  private var newest = 0

  mutating func add(_ units: Int, at now: Duration) {
    self.advance(to: now)
    let index = self.newest % Self.sliceCount
    self.slices[index] = self.slices[index].saturatingSum(units)
  }

  mutating func balance(at now: Duration) -> Int {
    self.advance(to: now)
    return self.slices.reduce(0) { $0.saturatingSum($1) }
  }

  /// Takes units from the oldest deposits. Takes none and returns false if there are not enough.
  mutating func take(_ units: Int, at now: Duration) -> Bool {
    guard self.balance(at: now) >= units else { return false }
    var missing = units
    for age in (0..<Self.sliceCount).reversed() where self.newest >= age {
      let index = (self.newest - age) % Self.sliceCount
      let taken = min(self.slices[index], missing)
      self.slices[index] -= taken
      missing -= taken
    }
    return true
  }

  /// Empties the slices that are older than ten seconds.
  private mutating func advance(to now: Duration) {
    let second = now.wholeSeconds
    guard second > self.newest else { return }
    for offset in 1...min(second - self.newest, Self.sliceCount) {
      self.slices[(second - offset + 1) % Self.sliceCount] = 0
    }
    self.newest = second
  }
}

/// The attempts that need no deposit: a token bucket that holds as many as it gains in a second.
struct RetryReserve: Sendable {
  private static let second: Int128 = 1_000_000_000_000_000_000

  private let perSecond: Fraction
  // In units of an attosecond's gain divided by the denominator, so that no gain is rounded.
  private let capacity: Int128
  private let cost: Int128
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

  private mutating func refill(at now: Duration) {
    let time = (now - self.updated).attoseconds
    self.updated = now
    let (gain, overflow) = time.multipliedReportingOverflow(by: Int128(self.perSecond.numerator))
    self.units = overflow ? self.capacity : min(self.capacity, self.units + min(gain, self.capacity))
  }
}

extension Int {
  /// The sum of two numbers that are not negative, or the largest number if it is too large.
  func saturatingSum(_ other: Int) -> Int {
    let (sum, overflow) = self.addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Duration {
  fileprivate var wholeSeconds: Int { Int(clamping: self.attoseconds / 1_000_000_000_000_000_000) }
}

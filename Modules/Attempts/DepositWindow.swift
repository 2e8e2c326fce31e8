internal import OperationCore

/// The deposits of the last ten seconds, in slices of one second.
struct DepositWindow: Sendable {
  private static let sliceCount = 10

  private var slices = [Int](repeating: 0, count: Self.sliceCount)
  /// The number of the newest slice. Slices are numbered by the second that they cover.
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

  /// Takes units from the oldest deposits first. Takes none and returns false if there are not enough.
  mutating func take(_ units: Int, at now: Duration) -> Bool {
    guard self.balance(at: now) >= units else { return false }
    _ = self.take(upTo: units, fromAges: (0..<Self.sliceCount).reversed())
    return true
  }

  /// Takes units back, from the newest deposits first. If there are not enough, the newest slice becomes negative.
  mutating func takeBack(_ units: Int, at now: Duration) {
    self.advance(to: now)
    self.slices[self.newest % Self.sliceCount] -= self.take(upTo: units, fromAges: 0..<Self.sliceCount)
  }

  /// Expresses the deposits in other units.
  mutating func convert(from denominator: Int, to other: Int) {
    self.slices = self.slices.map { Int(clamping: Int128($0) * Int128(other) / Int128(denominator)) }
  }

  /// Takes units from slices of these ages, and returns how many are missing.
  private mutating func take(upTo units: Int, fromAges ages: some Sequence<Int>) -> Int {
    var missing = units
    for age in ages where self.newest >= age {
      let index = (self.newest - age) % Self.sliceCount
      let taken = min(max(self.slices[index], 0), missing)
      self.slices[index] -= taken
      missing -= taken
    }
    return missing
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

extension Int {
  /// The sum of two numbers, or `Int.max` if the sum is larger.
  func saturatingSum(_ other: Int) -> Int {
    let (sum, overflow) = self.addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Duration {
  fileprivate var wholeSeconds: Int { Int(clamping: self.attoseconds / 1_000_000_000_000_000_000) }
}

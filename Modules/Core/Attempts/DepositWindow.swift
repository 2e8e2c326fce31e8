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

extension Int {
  /// The sum of two nonnegative numbers, or `Int.max` if the sum is larger.
  func saturatingSum(_ other: Int) -> Int {
    let (sum, overflow) = self.addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Duration {
  fileprivate var wholeSeconds: Int { Int(clamping: self.attoseconds / 1_000_000_000_000_000_000) }
}

extension Duration {
  /// The duration for a sentence, rounded to what a reader needs: `3.9 s`, `250 ms`, `2 min 5 s`, `3 h 20 min`.
  ///
  /// Below a minute it has one unit with at most one decimal, from a minute on two whole units. The exact value is for
  /// code; errors and snapshots have it as a property.
  package var roundedText: String {
    let attoseconds = self.attoseconds
    let magnitude = attoseconds.magnitude
    let text =
      Self.smallUnits.lazy.compactMap { $0.text(magnitude) }.first
      ?? Self.largeUnits.lazy.compactMap { $0.text(magnitude) }.first ?? "\(magnitude / Self.day) d"
    return attoseconds < 0 ? "-\(text)" : text
  }

  private static let second: UInt128 = 1_000_000_000_000_000_000
  private static let day = 86_400 * Self.second

  private static let smallUnits = [
    SmallUnit(name: "ns", length: Self.second / 1_000_000_000, count: 1000),
    SmallUnit(name: "µs", length: Self.second / 1_000_000, count: 1000),
    SmallUnit(name: "ms", length: Self.second / 1000, count: 1000),
    SmallUnit(name: "s", length: Self.second, count: 60),
  ]

  private static let largeUnits = [
    LargeUnit(name: "min", length: 60 * Self.second, part: "s", partLength: Self.second, count: 60),
    LargeUnit(name: "h", length: 3600 * Self.second, part: "min", partLength: 60 * Self.second, count: 24),
    LargeUnit(name: "d", length: Self.day, part: "h", partLength: 3600 * Self.second, count: 100),
  ]
}

/// A unit that is written with at most one decimal.
private struct SmallUnit: Sendable {
  let name: String
  let length: UInt128
  /// The number of units that make the next larger one.
  let count: UInt128

  /// The duration in this unit; nil if it rounds to the next one.
  func text(_ attoseconds: UInt128) -> String? {
    guard attoseconds > 0 else { return "0 s" }
    guard attoseconds < self.count * self.length else { return nil }
    // A large number needs no decimal.
    let nearest = (attoseconds + self.length / 2) / self.length
    if nearest >= 100 { return nearest < self.count ? "\(nearest) \(self.name)" : nil }
    // Only a duration of zero has the text of zero.
    let tenths = max((attoseconds * 10 + self.length / 2) / self.length, 1)
    let (whole, decimal) = tenths.quotientAndRemainder(dividingBy: 10)
    guard whole < self.count else { return nil }
    return decimal == 0 ? "\(whole) \(self.name)" : "\(whole).\(decimal) \(self.name)"
  }
}

/// A unit that is written with its rest in the next smaller one.
private struct LargeUnit: Sendable {
  let name: String
  let length: UInt128
  let part: String
  let partLength: UInt128
  /// The number of units that make the next larger one.
  let count: UInt128

  /// The duration in this unit; nil if it rounds to the next one.
  func text(_ attoseconds: UInt128) -> String? {
    guard attoseconds < self.count * self.length else { return nil }
    let parts = (attoseconds + self.partLength / 2) / self.partLength
    let (whole, rest) = parts.quotientAndRemainder(dividingBy: self.length / self.partLength)
    guard whole < self.count else { return nil }
    return rest == 0 ? "\(whole) \(self.name)" : "\(whole) \(self.name) \(rest) \(self.part)"
  }
}

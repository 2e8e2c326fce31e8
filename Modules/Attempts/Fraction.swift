internal import OperationCore

/// A nonnegative number as a fraction of integers, for exact arithmetic.
struct Fraction: Hashable, Sendable {
  let numerator: Int
  let denominator: Int

  static let zero = Fraction(numerator: 0, denominator: 1)

  /// The largest value. Products of numerators and attoseconds fit into 128 bits.
  static let maximum = 1e9

  private static let maximumDenominator = 1 << 24

  private init(numerator: Int, denominator: Int) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The simplest fraction that is `value` as a `Double`: 3/5 for 0.6, 1/3 for 1.0 / 3.
  ///
  /// If that fraction has a denominator above 2²⁴, the result is an approximation with a smaller denominator. The
  /// method is the expansion into a continued fraction.
  ///
  /// - Parameter value: Between 0 and ``maximum``.
  init(_ value: Double) {
    var (last, current) = ((numerator: 1, denominator: 0), (numerator: Int(value), denominator: 1))
    var rest = value - value.rounded(.down)
    while rest > 0, Double(current.numerator) / Double(current.denominator) != value {
      let inverse = 1 / rest
      guard inverse <= Double(Self.maximumDenominator) else { break }
      let step = Int(inverse)
      let denominator = step * current.denominator + last.denominator
      guard denominator <= Self.maximumDenominator else { break }
      (last, current) = (current, (step * current.numerator + last.numerator, denominator))
      rest = inverse - inverse.rounded(.down)
    }
    self.init(numerator: current.numerator, denominator: current.denominator)
  }
}

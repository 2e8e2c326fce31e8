internal import OperationCore

/// A duration from zero to the longest one that `components` can express. Its arithmetic saturates at both ends.
struct Delay: Hashable, Comparable, Sendable {
  static let zero = Delay(.zero)
  static let longest = Delay(Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999))

  /// The length. The longest delay is below 2¹²³ attoseconds, so the sum of two delays does not overflow.
  let attoseconds: Int128

  init(_ duration: OperationDuration) {
    self.init(clamping: duration.attoseconds)
  }

  init(clamping attoseconds: Int128) {
    let longest = Int128(Int64.max) * 1_000_000_000_000_000_000 + 999_999_999_999_999_999
    self.attoseconds = min(max(attoseconds, 0), longest)
  }

  var duration: OperationDuration { Duration(attoseconds: self.attoseconds) }

  static func < (lhs: Delay, rhs: Delay) -> Bool { lhs.attoseconds < rhs.attoseconds }
}

extension Delay {
  func plus(_ other: Delay) -> Delay { Delay(clamping: self.attoseconds + other.attoseconds) }

  /// Multiplies the delay by an integer.
  ///
  /// - Parameter factor: Not negative.
  /// - Returns: The product, or the longest delay if that is less.
  func times(_ factor: Int128) -> Delay {
    let (product, overflow) = self.attoseconds.multipliedReportingOverflow(by: factor)
    return overflow ? .longest : Delay(clamping: product)
  }

  func doubled(times count: Int) -> Delay {
    guard self > .zero else { return .zero }
    return count < 126 ? self.times(1 << Int128(count)) : .longest
  }

  /// Multiplies the delay by a fraction.
  ///
  /// - Parameter fraction: Between 0 and 1.
  /// - Returns: The part, rounded to attoseconds.
  func fraction(_ fraction: Double) -> Delay {
    Delay(clamping: Int128((Double(self.attoseconds) * fraction).rounded()))
  }
}

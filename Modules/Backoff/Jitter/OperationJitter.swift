/// How a jitter spreads a delay: the range from which it draws uniformly.
///
/// A cap limits the range before the draw: see ``OperationBackoffFunction/capped(at:)``.
public struct OperationJitter: Hashable, Sendable, CustomStringConvertible {
  let kind: Kind

  enum Kind: Hashable, Sendable {
    case full
    case equal
    case proportional(Double)
  }

  /// A description of the jitter.
  public var description: String {
    switch self.kind {
    case .full: "full jitter"
    case .equal: "equal jitter"
    case .proportional(let fraction): "a jitter of \(fraction)"
    }
  }
}

extension OperationJitter {
  /// Draws between zero and the delay: the fewest collisions, but sometimes almost no delay.
  ///
  /// "Full jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015.
  public static var full: Self { Self(kind: .full) }

  /// Draws between half the delay and the delay, so that at least half of it always remains.
  ///
  /// "Equal jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015.
  public static var equal: Self { Self(kind: .equal) }

  /// Draws within a fraction of the delay below and above it: with 0.2, between 0.8 and 1.2 times the delay.
  ///
  /// [gRPC's connection backoff](https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md) does the same.
  ///
  /// - Parameter fraction: A negative number or NaN counts as 0, which is no jitter; a number above 1 counts as 1.
  /// - Returns: A jitter whose range surrounds the delay.
  public static func proportional(_ fraction: Double) -> Self {
    Self(kind: .proportional(fraction > 0 ? min(fraction, 1) : 0))
  }
}

extension OperationJitter {
  /// The range to draw from, for a delay that is not above `limit`.
  func range(around delay: Delay, limit: Delay) -> ClosedRange<Delay> {
    switch self.kind {
    case .full: return .zero...delay
    case .equal: return Delay(clamping: delay.attoseconds / 2)...delay
    case .proportional(let fraction):
      let spread = delay.fraction(fraction)
      let shortest = Delay(clamping: delay.attoseconds - spread.attoseconds)
      return shortest...min(delay.plus(spread), limit)
    }
  }
}

/// A jitter and its source of random numbers.
struct AppliedJitter: Sendable {
  let jitter: OperationJitter
  let source: RandomSource

  func delay(around delay: Delay, limit: Delay) -> Delay {
    self.source.draw(from: self.jitter.range(around: delay, limit: limit))
  }
}

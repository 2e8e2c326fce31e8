/// How a jitter spreads a delay: the range from which it draws, uniformly.
///
/// A cap cuts the range before the draw: see ``OperationBackoffFunction/capped(at:)``.
public struct OperationJitter: Hashable, Sendable, CustomStringConvertible {
  let kind: Kind

  enum Kind: Hashable, Sendable {
    case full
    case equal
    case proportional(Double)
  }

  /// The jitter in words.
  public var description: String {
    switch self.kind {
    case .full: "full jitter"
    case .equal: "equal jitter"
    case .proportional(let fraction): "a jitter of \(fraction)"
    }
  }
}

extension OperationJitter {
  /// Draws between zero and the delay: the fewest collisions, and now and then no delay at all.
  ///
  /// "Full jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015.
  public static var full: Self { Self(kind: .full) }

  /// Draws between half the delay and the delay, so that some of it always remains.
  ///
  /// "Equal jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015.
  public static var equal: Self { Self(kind: .equal) }

  /// Draws within a part of the delay below and above it: with 0.2, between 0.8 and 1.2 times the delay.
  ///
  /// The way of [gRPC's connection backoff](https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md).
  ///
  /// - Parameter fraction: A number below 0, or none at all, counts as 0, which is no jitter; one above 1 counts as 1.
  public static func proportional(_ fraction: Double) -> Self {
    Self(kind: .proportional(fraction > 0 ? min(fraction, 1) : 0))
  }
}

extension OperationJitter {
  /// What a delay, which is not above `limit`, is spread over.
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

/// A jitter with what it draws from.
struct AppliedJitter: Sendable {
  let jitter: OperationJitter
  let source: RandomSource

  func delay(around delay: Delay, limit: Delay) -> Delay {
    self.source.draw(from: self.jitter.range(around: delay, limit: limit))
  }
}

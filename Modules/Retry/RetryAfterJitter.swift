internal import OperationCore
internal import Synchronization

/// How the delays of many clients spread that were asked to come back after the same time.
///
/// A server asks with a header such as `Retry-After`, an open circuit breaker with the time until it admits a run. A delay
/// is never shorter than what was asked for. Without a jitter a thousand clients come back at the same instant, and fail
/// together again: M. Brooker describes it in
/// [Exponential Backoff and Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), 2015.
public struct RetryAfterJitter: Sendable, CustomStringConvertible {
  /// The longest addition, as a share of the hint: from 0 to 1.
  public let fraction: Double

  /// Whether the hints of breakers and limits in this process are spread as well. True unless
  /// ``spreadingOnlyServers()`` was called.
  public private(set) var spreadsLocalHints = true

  /// Returns a number from 0 to 1.
  private let random: @Sendable () -> Double

  private init(_ fraction: Double, _ random: @escaping @Sendable () -> Double) {
    // Written so that NaN counts as 0.
    self.fraction = fraction > 0 ? min(fraction, 1) : 0
    self.random = random
  }

  /// Every client waits for exactly as long as it was asked to.
  public static var none: Self { Self(0) { 0 } }

  /// Adds up to a fraction of the hint, at random: with 0.1, a hint of 30 seconds becomes 30 to 33 seconds.
  ///
  /// - Parameter fraction: A negative number or NaN counts as 0; a number above 1 counts as 1.
  /// - Returns: A jitter that uses the system's random numbers.
  public static func proportional(_ fraction: Double) -> Self {
    Self(fraction) { Double.random(in: 0...1) }
  }

  /// Adds up to a fraction of the hint, with your random number generator.
  ///
  /// - Parameters:
  ///   - fraction: A negative number or NaN counts as 0; a number above 1 counts as 1.
  ///   - generator: The source of random numbers. All copies of the jitter share it.
  /// - Returns: A jitter that uses `generator`.
  public static func proportional(_ fraction: Double, using generator: some RandomNumberGenerator & Sendable) -> Self {
    let numbers = RandomNumbers(generator)
    return Self(fraction) { numbers.next() }
  }

  /// The same jitter for the hints of servers alone. The hint of a ``/OperationCore/LocalRejection`` is exact.
  ///
  /// - Returns: A jitter with the same fraction and source of random numbers.
  public func spreadingOnlyServers() -> Self {
    var jitter = self
    jitter.spreadsLocalHints = false
    return jitter
  }

  /// The largest addition, in words.
  public var description: String {
    "up to \(self.fraction) of the hint\(self.spreadsLocalHints ? "" : " of a server")"
  }
}

extension RetryAfterJitter {
  /// The delay for a hint that is at least zero and not above `cap`.
  ///
  /// - Parameters:
  ///   - hint: The shortest delay.
  ///   - cap: The longest delay.
  ///   - remaining: The time until the deadline of the run; nil without one.
  /// - Returns: The delay, from `hint` to `cap`.
  func delay(from hint: Duration, cap: Duration, remaining: Duration?) -> Duration {
    guard self.fraction > 0, hint < cap else { return hint }
    var spread = min(hint.clampedForClock * self.fraction, cap - hint)
    // A longer jitter could take the time that the next attempt needs.
    if let remaining { spread = min(spread, max(remaining - hint, .zero) / 2) }
    return hint + spread * self.random()
  }
}

/// A generator that all copies of a jitter share.
private final class RandomNumbers<Generator: RandomNumberGenerator & Sendable>: Sendable {
  private let generator: Mutex<Generator>

  init(_ generator: Generator) {
    self.generator = Mutex(generator)
  }

  func next() -> Double {
    self.generator.withLock { Double.random(in: 0...1, using: &$0) }
  }
}

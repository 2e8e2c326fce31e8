public import OperationCore

extension OperationBackoffFunction {
  /// Never waits.
  public static var noBackoff: Self { Self(name: "No backoff", growth: .constant(.zero)) }

  /// Waits for the same time before each attempt.
  public static func constant(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Constant \(delay.duration)", growth: .constant(delay))
  }

  /// Waits for the same number of seconds before each attempt, so that a delay can be written as a duration.
  public static func seconds(_ seconds: Double) -> Self { .constant(.seconds(seconds)) }

  /// Waits for the same number of milliseconds before each attempt.
  public static func milliseconds(_ milliseconds: Double) -> Self { .constant(.milliseconds(milliseconds)) }

  /// Adds `duration` to the delay each time: d, 2d, 3d, 4d and so on.
  public static func linear(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Linear by \(delay.duration)", growth: .linear(delay))
  }

  /// Doubles the delay each time: d, 2d, 4d, 8d and so on.
  public static func exponential(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Exponential from \(delay.duration)", growth: .exponential(delay))
  }

  /// Waits for the sum of the last two delays: d, d, 2d, 3d, 5d and so on.
  public static func fibonacci(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Fibonacci from \(delay.duration)", growth: .fibonacci(delay))
  }
}

extension OperationBackoffFunction {
  /// Draws each delay between `base` and three times the previous delay.
  ///
  /// No state is kept between calls: the call for attempt n draws its own chain of n delays, beginning with `base`, and
  /// returns the last one. A chain stops early when more links would make no difference, after at most about 1,300
  /// links.
  ///
  /// This is "decorrelated jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015,
  /// with one difference: here the cap limits the range before each draw. In the article it limits the drawn delay, so
  /// that many delays equal the cap.
  ///
  /// - Parameters:
  ///   - base: The shortest delay. If `cap` is not above it, delays are drawn between zero and the cap.
  ///   - cap: The longest delay.
  /// - Returns: A backoff function whose delays are at most `cap`.
  public static func decorrelated(base: OperationDuration, cap: OperationDuration) -> Self {
    self.decorrelated(base: base, cap: cap, source: .system)
  }

  /// Draws each delay between `base` and three times the previous delay, with your random number generator.
  ///
  /// - Parameters:
  ///   - base: The shortest delay. If `cap` is not above it, delays are drawn between zero and the cap.
  ///   - cap: The longest delay.
  ///   - generator: Draws the delays. The function and its copies share it behind a lock.
  /// - Returns: A backoff function whose delays are at most `cap`.
  public static func decorrelated(
    base: OperationDuration,
    cap: OperationDuration,
    using generator: some RandomNumberGenerator & Sendable
  ) -> Self {
    self.decorrelated(base: base, cap: cap, source: RandomSource(generator))
  }

  private static func decorrelated(base: OperationDuration, cap: OperationDuration, source: RandomSource) -> Self {
    let base = Delay(base)
    let growth = BackoffGrowth.decorrelated(base, source)
    return Self(name: "Decorrelated from \(base.duration)", growth: growth, cap: Delay(cap))
  }
}

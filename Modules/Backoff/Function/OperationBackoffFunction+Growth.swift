public import OperationCore

extension OperationBackoffFunction {
  /// Never waits.
  public static var noBackoff: Self { Self(name: "No backoff", growth: .constant(.zero)) }

  /// Waits equally long each time.
  public static func constant(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Constant \(delay.duration)", growth: .constant(delay))
  }

  /// Waits longer by `duration` each time: d, 2d, 3d, 4d and so on.
  public static func linear(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Linear by \(delay.duration)", growth: .linear(delay))
  }

  /// Waits twice as long each time: d, 2d, 4d, 8d and so on.
  public static func exponential(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Exponential from \(delay.duration)", growth: .exponential(delay))
  }

  /// Waits as long as the last two times together: d, d, 2d, 3d, 5d and so on.
  public static func fibonacci(_ duration: OperationDuration) -> Self {
    let delay = Delay(duration)
    return Self(name: "Fibonacci from \(delay.duration)", growth: .fibonacci(delay))
  }
}

extension OperationBackoffFunction {
  /// Draws each delay between `base` and three times the delay before it.
  ///
  /// Nothing is kept between calls: the call for attempt n draws a chain of n delays of its own, beginning with `base`, and
  /// returns the last one. A chain ends where more links would make no difference, at the latest after some 1,300.
  ///
  /// This is "decorrelated jitter" in M. Brooker, [Exponential Backoff And
  /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, 2015, except
  /// that the cap cuts the range before each draw. There it cuts what was drawn, so that many get exactly the cap.
  ///
  /// - Parameters:
  ///   - base: The shortest delay. Where `cap` leaves no room above it, delays are drawn between zero and the cap.
  ///   - cap: The longest delay.
  public static func decorrelated(base: OperationDuration, cap: OperationDuration) -> Self {
    self.decorrelated(base: base, cap: cap, source: .system)
  }

  /// Draws each delay between `base` and three times the delay before it, using a random number generator of your own.
  ///
  /// - Parameters:
  ///   - base: The shortest delay. Where `cap` leaves no room above it, delays are drawn between zero and the cap.
  ///   - cap: The longest delay.
  ///   - generator: Draws the delays. The function and its copies share it, and it is used under a lock.
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

package import FoundationEssentials
package import OperationCore

/// A clock that runs faster or slower than another one, and shows another date.
package struct SkewedTime: DeadlineSource, OperationClock {
  private let base: EventClock
  private let rate: Double
  private let offset: Double

  /// Creates a clock.
  ///
  /// - Parameters:
  ///   - base: The clock.
  ///   - rate: How fast it runs, of which 1 is the speed of `base`.
  ///   - offset: The seconds by which its date is later at the beginning.
  package init(of base: EventClock, rate: Double, offset: Double) {
    self.base = base
    self.rate = rate
    self.offset = offset
  }

  package var elapsed: Duration { self.rate == 1 ? self.base.elapsed : self.base.elapsed * self.rate }

  package func schedule(
    after duration: Duration,
    _ action: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.base.schedule(after: self.rate == 1 ? duration : duration / self.rate, action)
  }

  package func now() -> Date {
    Date(timeIntervalSinceReferenceDate: self.offset + self.elapsed / .seconds(1))
  }
}

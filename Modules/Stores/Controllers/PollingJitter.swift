internal import Synchronization

/// Shortens intervals by random shares, so that stores of many clients do not poll together.
struct PollingJitter: Sendable {
  private let shortening: (@Sendable () -> Double)?

  /// - Parameters:
  ///   - maximum: The largest share to take away, from 0 to 1. Another number is reported.
  ///   - generator: Where the shares come from.
  init(_ maximum: Double, _ generator: some RandomNumberGenerator & Sendable) {
    guard maximum != 0 else {
      self.shortening = nil
      return
    }
    if !(maximum >= 0 && maximum <= 1) {
      OperationWarning(
        code: .invalidArgument,
        message: "`rerun(every:jitter:)` was given the share \(maximum). It counts as the nearest number from 0 to 1."
      ).report()
    }
    let generator = SharedGenerator(generator)
    let largest = maximum > 0 ? min(maximum, 1) : 0
    self.shortening = { largest * generator.next() }
  }

  func shortened(_ interval: Duration) -> Duration {
    guard let share = self.shortening?() else { return interval }
    // Never zero: polls would follow each other without a pause.
    return max(interval - interval.clampedForClock * share, .milliseconds(1))
  }
}

private final class SharedGenerator<Generator: RandomNumberGenerator & Sendable>: Sendable {
  private let generator: Mutex<Generator>

  init(_ generator: Generator) {
    self.generator = Mutex(generator)
  }

  func next() -> Double {
    self.generator.withLock { Double.random(in: 0...1, using: &$0) }
  }
}

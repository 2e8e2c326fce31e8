internal import OperationBackoff
internal import OperationCore

/// The settings of a ``CircuitBreaker`` that may change while it runs.
struct CircuitSettings: Sendable {
  var failureRatio: Double
  var minimumRuns: Int
  var window: Duration
  /// The number of last runs that count; nil if the runs of the window count.
  var lastRuns: Int?
  /// The time after which a run is slow; nil if none is.
  var slowAfter: Duration?
  var slowRatio: Double
  var openFor: OperationBackoffFunction
  var probes: Int
  /// The longest time that a run waits beside the probes.
  var probeWait: Duration
  /// The longest time from the first probe to the last; nil for any time.
  var halfOpenFor: Duration?

  /// The number of runs below which the breaker does not open: all of them, where fewer are counted.
  var neededRuns: Int { self.lastRuns.map { min($0, self.minimumRuns) } ?? self.minimumRuns }

  /// The most runs that may be counted without their time.
  private static let mostRuns = 1_000_000

  /// What is impossible about the settings that breakers have always had; nil if nothing is.
  static func problem(failureRatio: Double?, minimumRuns: Int?, window: Duration?, probes: Int?) -> String? {
    if let failureRatio, !(failureRatio > 0 && failureRatio <= 1) {
      return "A circuit breaker cannot open at a failure ratio of \(failureRatio). Pass one above 0 and at most 1."
    }
    if let minimumRuns, minimumRuns < 1 {
      return "A circuit breaker cannot open after \(minimumRuns) runs. Pass at least 1."
    }
    if let window, window <= .zero {
      return "A circuit breaker cannot count runs for \(window). Pass a positive duration."
    }
    if let probes, probes < 1 { return "A circuit breaker with \(probes) probes would never close. Pass at least 1." }
    return nil
  }

  static func problem(lastRuns: Int?) -> String? {
    guard let lastRuns, !(0...Self.mostRuns).contains(lastRuns) else { return nil }
    return """
      A circuit breaker cannot count the last \(lastRuns) runs. Pass up to \(Self.mostRuns), or 0 to count by time.
      """
  }

  static func problem(slowRatio: Double?) -> String? {
    guard let slowRatio, !(slowRatio > 0 && slowRatio <= 1) else { return nil }
    return "A circuit breaker cannot open at a ratio of \(slowRatio) slow runs. Pass one above 0 and at most 1."
  }

  static func problem(_ duration: Duration?, as name: String) -> String? {
    guard let duration, duration < .zero else { return nil }
    return "`\(name)` cannot be \(duration). Pass a positive duration, or zero for none."
  }
}

extension Duration {
  /// This duration; zero, with a report, where it is negative.
  ///
  /// - Parameter argument: Where the duration was passed, such as `stale(after:)`.
  func reportedIfNegative(in argument: String) -> Duration {
    guard self < .zero else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "`\(argument)` was given the negative duration \(self). It counts as zero; pass zero or more."
    ).report()
    return .zero
  }

  /// The duration in seconds, as dates count.
  package var seconds: Double {
    // Not through `components`, which trap where the seconds do not fit 64 bits.
    Double(self.attoseconds) / 1e18
  }

  /// The nearest duration that clocks take: they trap or wait forever on saturated ones. A hundred years is forever.
  package var clampedForClock: Duration {
    let forever = Duration.seconds(100 * 365 * 86_400)
    return min(max(self, .zero), forever)
  }
}

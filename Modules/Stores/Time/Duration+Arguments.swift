extension Duration {
  /// Reports this duration with a warning if it is negative.
  ///
  /// - Parameter argument: The name of the argument for the report, such as `stale(after:)`.
  /// - Returns: This duration, or zero if it is negative.
  package func reportedIfNegative(in argument: String) -> Duration {
    guard self < .zero else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "`\(argument)` was given the negative duration \(self). It counts as zero; pass zero or more."
    ).report()
    return .zero
  }

  /// The duration in seconds, in the unit that dates use.
  package var seconds: Double {
    // Avoids `components`, which trap if the seconds do not fit into 64 bits.
    Double(self.attoseconds) / 1e18
  }

  /// The nearest duration between zero and a hundred years.
  ///
  /// Clocks trap or wait forever on saturated durations.
  package var clampedForClock: Duration {
    let forever = Duration.seconds(100 * 365 * 86_400)
    return min(max(self, .zero), forever)
  }
}

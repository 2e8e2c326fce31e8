public import OperationCore

/// How long a run may take before another one is started.
public struct HedgeDelay: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case fixed(Duration)
    case quantile(Double, minimumRuns: Int)
  }

  let kind: Kind

  /// The same time for each run.
  ///
  /// A negative duration counts as zero, which starts all runs at once. An update of ``HedgeSettings`` refuses it.
  public static func fixed(_ duration: OperationDuration) -> Self {
    Self(kind: .fixed(duration))
  }

  /// The time within which this share of the last 500 runs has ended: with 0.95, one run of twenty is hedged.
  ///
  /// A run that was cancelled because another one was faster counts with the time until its cancellation.
  ///
  /// J. Dean and L. A. Barroso recommend the 95th percentile in *The Tail at Scale*, Communications of the ACM, 2013.
  ///
  /// - Parameters:
  ///   - quantile: The share of runs, above 0 and at most 1.
  ///   - minimumRuns: The number of ended runs below which no run is hedged, from 1 to 500. A failure still starts the
  ///     next run.
  /// - Returns: A delay that follows the durations of the latest runs.
  public static func quantile(_ quantile: Double, minimumRuns: Int = 20) -> Self {
    precondition(
      quantile > 0 && quantile <= 1,
      "A hedge cannot use the quantile \(quantile). Pass one above 0 and at most 1."
    )
    precondition(
      (1...HedgeLatencies.capacity).contains(minimumRuns),
      "A hedge cannot use the quantile of \(minimumRuns) runs. Pass 1 to \(HedgeLatencies.capacity)."
    )
    return Self(kind: .quantile(quantile, minimumRuns: minimumRuns))
  }
}

extension HedgeDelay {
  /// The delay as it is written.
  var text: String {
    switch self.kind {
    case .fixed(let duration): max(duration, .zero).roundedText
    case .quantile(let quantile, _): ".quantile(\(quantile))"
    }
  }

  /// What is impossible about the delay in an update; nil if nothing is.
  var problem: String? {
    guard case .fixed(let duration) = self.kind, duration < .zero else { return nil }
    return "A hedge cannot begin `after: .fixed(\(duration))`. Pass zero to start all runs at once."
  }

  /// Whether the durations of runs are measured.
  var isQuantile: Bool {
    if case .quantile = self.kind { true } else { false }
  }
}

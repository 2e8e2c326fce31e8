internal import OperationCore
internal import Synchronization

/// The delay of the next hedge, fixed or computed from the durations of the last runs.
///
/// All runs of an operation share it.
final class HedgeTiming: Sendable {
  private let delay: HedgeDelay
  private let latencies = Mutex(HedgeLatencies())

  init(_ delay: HedgeDelay) {
    self.delay = delay
  }

  /// The delay as it is written.
  var delayText: String {
    switch self.delay.kind {
    case .fixed(let duration): duration.roundedText
    case .quantile(let quantile, _): ".quantile(\(quantile))"
    }
  }

  /// How long to wait before the next hedge; nil to start none.
  var currentDelay: Duration? {
    switch self.delay.kind {
    case .fixed(let duration): duration
    case .quantile(let quantile, let minimumRuns):
      self.latencies.withLock { $0.quantile(quantile, minimumRuns: minimumRuns) }
    }
  }

  /// Records how long a run has taken.
  func record(_ duration: Duration) {
    guard case .quantile = self.delay.kind else { return }
    self.latencies.withLock { $0.add(max(duration, .zero)) }
  }
}

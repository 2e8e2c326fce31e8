internal import OperationCore

/// Lets paused runs, as `.waits(until:)` makes them, give their places in schedulers to others meanwhile.
struct PausedPlaces: RunPauseObserver {
  /// Observes the pauses of all runs, from the first scheduler on.
  static let observation: Void = RunPauses.observe(with: PausedPlaces())

  func runWillPause(until name: String) {
    for node in RunScope.current?.nodes ?? [] { node.lend(for: NodeWait(.paused, [name])) }
  }

  nonisolated(nonsending) func runDidPause() async {
    for node in (RunScope.current?.nodes ?? []).reversed() { await node.reclaim(after: .paused, isolation: #isolation) }
  }
}

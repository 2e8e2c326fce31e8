/// The paused runs whose specification holds, in the order in which their pauses began.
///
/// They go on one after the other, because the tasks of a pool would otherwise overtake each other: each lets the next one
/// go when its state has told that it goes on. A run on an executor of its own, such as an actor, holds up none.
final class ResumptionLine: Sendable {
  static let shared = ResumptionLine()

  private let runs = Locked(SerialQueue<PausedRun>())

  /// Adds a run at the end, and wakes it if it is the only one.
  func append(_ run: PausedRun) {
    self.advance(
      to: self.runs.withLock { runs in
        runs.append(run)
        return runs.begin()
      }
    )
  }

  /// Wakes the next run. The caller is the run that was woken before.
  func advance() {
    self.advance(to: self.runs.withLock { $0.next() })
  }

  private func advance(to first: PausedRun?) {
    var next = first
    while let run = next {
      if run.wake() { return }
      next = self.runs.withLock { $0.next() }
    }
  }
}

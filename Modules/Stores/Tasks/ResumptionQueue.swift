/// The paused runs that can resume, in the order in which their specifications began to hold.
///
/// They resume one after another, because tasks on the default executor would otherwise overtake each other: a run
/// wakes the next one when its store has shown that it is no longer paused. A run on another executor, such as an
/// actor, does not make the next one wait.
final class ResumptionQueue: Sendable {
  static let shared = ResumptionQueue()

  private let runs = Locked(SerialQueue<PausedRun>())

  /// Adds a run at the end, and wakes it unless the queue waits for an earlier run.
  func append(_ run: PausedRun) {
    self.advance(
      to: self.runs.withLock { runs in
        runs.append(run)
        return runs.begin()
      }
    )
  }

  /// Wakes the next run. Called by the run that was woken last.
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

/// The paused runs on the default executor that can resume, in the order in which their specifications began to hold.
///
/// They resume one after another, because tasks would overtake each other there: a run wakes the next one when its store
/// has shown that it is no longer paused. Other executors, such as actors, have an order of their own.
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

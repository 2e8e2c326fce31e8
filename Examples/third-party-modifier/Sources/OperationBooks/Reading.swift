internal import OperationCore
internal import Synchronization

/// The progress of a run, which its attempts share. The state attaches it to the run.
final class Reading: RunAttachment {
  private struct Progress {
    var next = 1
    var isUnfinished = false
  }

  let awaitedRuns: [WaitEdge]
  private let progress = Mutex(Progress())

  /// - Parameter awaitedRuns: The runs that the run of this attachment comes after.
  init(after awaitedRuns: [WaitEdge]) {
    self.awaitedRuns = awaitedRuns
  }

  /// The chapter to load next.
  var next: Int { self.progress.withLock { $0.next } }

  /// Notes that a chapter has been loaded.
  func finish(_ number: Int, of count: Int) {
    self.progress.withLock { progress in
      progress.next = number + 1
      progress.isUnfinished = number < count
    }
  }

  var mayHaveParts: Bool { true }

  func takesAnotherPart() -> Bool {
    self.progress.withLock { progress in
      defer { progress.isUnfinished = false }
      return progress.isUnfinished
    }
  }
}

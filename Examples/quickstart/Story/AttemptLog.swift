import PostService
import Synchronization

/// Measures how long a retry waits: from the failure of an attempt to the beginning of the next.
final class AttemptLog: Sendable {
  private struct State {
    var lastFailure: ContinuousClock.Instant?
    var waits: [Duration] = []
  }

  private let transcript: Transcript
  private let state = Mutex(State())

  init(transcript: Transcript) {
    self.transcript = transcript
  }

  func begin(_ attempt: Attempt) {
    let now = ContinuousClock.now
    let wait = self.state.withLock { state -> Duration? in
      defer { state.lastFailure = nil }
      guard attempt.number > 1, let wait = state.lastFailure?.duration(to: now) else { return nil }
      state.waits.append(wait)
      return wait
    }
    if let wait { self.transcript.say(.query, "\(attempt) after a wait of \(wait.milliseconds) ms") }
  }

  func fail(_ attempt: Attempt, with error: any Error) {
    self.transcript.say(.query, "\(attempt) failed: \(error.inWords)")
    self.state.withLock { $0.lastFailure = .now }
  }
}

extension AttemptLog {
  /// One try of a run: the first one, or a retry.
  struct Attempt: CustomStringConvertible {
    let number: Int
    let limit: Int

    init(retry index: Int?, limit: Int) {
      self.number = index.map { $0 + 2 } ?? 1
      self.limit = limit + 1
    }

    var description: String { "attempt \(self.number) of \(self.limit)" }
  }
}

extension AttemptLog {
  /// Checks that there were so many waits, each of them no shorter than it should be.
  func checkWaits(_ expected: Duration...) {
    let waits = self.state.withLock { $0.waits }
    let inWords = { (waits: [Duration]) in waits.map { "\($0.milliseconds)" }.joined(separator: " and ") + " ms" }
    self.transcript.check(
      "the waits before the retries took at least \(inWords(expected))",
      waits.count == expected.count && zip(waits, expected).allSatisfy { $0 >= $1 },
      found: inWords(waits)
    )
  }
}

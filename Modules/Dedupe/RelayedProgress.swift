internal import OperationCore

/// The last progress of a run, for callers that join it later.
final class RelayedProgress: Sendable {
  private let attempt: OperationAttempt?
  private let pause: RunPause?

  /// Creates the progress of a run that has reported `previous` and then `progress`.
  init(after previous: RelayedProgress?, _ progress: RunProgress) {
    switch progress {
    case .attemptFailed(let attempt), .attemptBegan(let attempt):
      self.attempt = attempt
      self.pause = nil
    case .paused(let pause):
      self.attempt = previous?.attempt?.withoutDate
      self.pause = pause
    case .resumed:
      self.attempt = previous?.attempt?.withoutDate
      self.pause = nil
    }
  }

  /// The progress to report to a caller that joins the run, without failed attempts.
  var missed: [RunProgress] {
    let attempt = self.attempt.map { [RunProgress.attemptBegan($0)] } ?? []
    return attempt + [self.pause.map { .paused($0) } ?? .resumed]
  }
}

extension OperationAttempt {
  /// The attempt of a paused run: its next attempt begins at an unknown date.
  fileprivate var withoutDate: OperationAttempt {
    OperationAttempt(index: self.index, lastFailure: self.lastFailure)
  }
}

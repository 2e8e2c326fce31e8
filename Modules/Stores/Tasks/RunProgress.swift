/// An event of a run that is under way, other than a result.
package enum RunProgress: Sendable {
  /// An attempt has failed, and another one follows.
  case attemptFailed(OperationAttempt)
  /// An attempt other than the first has begun.
  case attemptBegan(OperationAttempt)
  /// The run waits until a specification holds.
  case paused(RunPause)
  /// The run no longer waits.
  case resumed
}

extension RunAttempts {
  /// Returns the attempts of a run after it has reported progress.
  static func after(_ progress: RunProgress, _ previous: RunAttempts?) -> RunAttempts {
    let (number, listeners) = (previous?.number ?? 1, previous?.listeners ?? [])
    return switch progress {
    case .attemptFailed(let attempt), .attemptBegan(let attempt):
      RunAttempts(number: attempt.index, listeners: listeners, reported: attempt)
    case .paused(let pause):
      RunAttempts(number: number, listeners: listeners, reported: previous?.reported?.withoutDate, pause: pause)
    case .resumed: RunAttempts(number: number, listeners: listeners, reported: previous?.reported)
    }
  }
}

extension OperationAttempt {
  /// The attempt of a paused run, whose next attempt begins at an unknown date.
  fileprivate var withoutDate: OperationAttempt {
    OperationAttempt(index: self.index, lastFailure: self.lastFailure)
  }
}

// MARK: - Reporting

extension OperationContext {
  /// Whether a store may receive the progress. Otherwise the progress need not be made.
  var mayReportProgress: Bool { !self.run.hidesProgress && (self.run.store != nil || EnclosingRun.exists) }

  /// Reports progress of the run to its store, and to the stores of the callers that share the run.
  package func report(_ progress: RunProgress) {
    guard self.mayReportProgress else { return }
    self.reportToStore(progress)
    EnclosingRun.relay(progress, of: self.run.taskIdentifier)
  }

  /// Reports progress of the run to its store.
  package func reportToStore(_ progress: RunProgress) {
    guard let store = self.run.store, let id = self.run.taskIdentifier else { return }
    store.note(progress, of: id)
  }

  /// Whether a store shows the progress of the run.
  package var hasProgressStore: Bool { self.run.store != nil && !self.run.hidesProgress }
}

extension EnclosingRun {
  /// Reports progress of the run with this identifier to the callers that share it.
  // By identifier and not by the current task: the work may be in a child task, for example within a time limit.
  static func relay(_ progress: RunProgress, of id: OperationTaskIdentifier?) {
    if let id, let run = self.run { run.relay(progress, of: id) }
  }
}

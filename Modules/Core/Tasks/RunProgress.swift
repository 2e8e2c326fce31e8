/// What a run tells while it is under way, besides its results.
@usableFromInline
package enum RunProgress: Sendable {
  /// An attempt has failed, and another one follows.
  case attemptFailed(OperationAttempt)
  /// An attempt other than the first has begun.
  case attemptBegan(OperationAttempt)
  /// The run waits until a specification holds.
  case paused
  /// The run no longer waits.
  case resumed
}

/// The last progress of a run, for callers that join it later.
@usableFromInline
package final class RelayedProgress: Sendable {
  private let attempt: OperationAttempt?
  private let isPaused: Bool

  /// Creates the progress of a run that had told `former` and then tells `progress`.
  package init(after former: RelayedProgress?, _ progress: RunProgress) {
    switch progress {
    case .attemptFailed(let attempt), .attemptBegan(let attempt):
      self.attempt = attempt
      self.isPaused = false
    case .paused, .resumed:
      self.attempt = former?.attempt?.withoutDate
      self.isPaused = if case .paused = progress { true } else { false }
    }
  }

  /// What a caller that joins the run has missed. A failure is not told again as an event.
  @usableFromInline package var missed: [RunProgress] {
    let attempt = self.attempt.map { [RunProgress.attemptBegan($0)] } ?? []
    return attempt + [self.isPaused ? .paused : .resumed]
  }
}

extension RunAttempts {
  /// The attempts of a run after it has told of its progress.
  static func after(_ progress: RunProgress, _ former: RunAttempts?) -> RunAttempts {
    let (number, listeners) = (former?.number ?? 1, former?.listeners ?? [])
    return switch progress {
    case .attemptFailed(let attempt), .attemptBegan(let attempt):
      RunAttempts(number: attempt.index, listeners: listeners, reported: attempt)
    case .paused:
      RunAttempts(number: number, listeners: listeners, reported: former?.reported?.withoutDate, isPaused: true)
    case .resumed: RunAttempts(number: number, listeners: listeners, reported: former?.reported)
    }
  }
}

extension OperationAttempt {
  /// The attempt of a paused run, whose next attempt begins at an unknown date.
  fileprivate var withoutDate: OperationAttempt {
    OperationAttempt(index: self.index, lastFailure: self.lastFailure)
  }
}

// MARK: - Telling

extension OperationContext {
  /// Whether progress may reach a store. Saves making what nothing receives.
  var mayReportProgress: Bool { !self.run.hidesProgress && (self.run.store != nil || EnclosingRun.exists) }

  /// Tells the store of the run of its progress, and the stores of the callers that share the run.
  @usableFromInline
  package func report(_ progress: RunProgress) {
    guard self.mayReportProgress else { return }
    self.reportToStore(progress)
    EnclosingRun.relay(progress, of: self.run.taskIdentifier)
  }

  /// Tells the store of the run of its progress.
  @usableFromInline
  package func reportToStore(_ progress: RunProgress) {
    guard let store = self.run.store, let id = self.run.taskIdentifier else { return }
    store.note(progress, of: id)
  }

  /// Whether a store shows the progress of the run.
  @usableFromInline package var hasProgressStore: Bool { self.run.store != nil && !self.run.hidesProgress }
}

extension EnclosingRun {
  /// Relays the progress of the run with the identifier to the callers that share it.
  // The work of a run may be in a child task, as with a time limit around it: the identifier tells the run.
  static func relay(_ progress: RunProgress, of id: OperationTaskIdentifier?) {
    if let id, let run = self.local.get() { run.relay(progress, of: id) }
  }
}

internal import OperationCore
internal import OperationFoundation

/// A failure of a run.
struct LastFailure: Sendable {
  let error: any Error
  let date: Date
}

/// Which failures answer callers, and for how long.
struct CachedFailures: Sendable {
  let seconds: Double
  let isCached: @Sendable (any Error) -> Bool
}

extension FreshnessRecord {
  /// What a failure means for readers some time after it.
  struct Rest {
    let failure: LastFailure
    /// The time since the failure, in seconds.
    let age: Double
    /// How long the failure itself is an answer, in seconds; zero if it is none.
    let answers: Double
    /// How long the last value is an answer, in seconds, if it may be used.
    let pauses: Double
    /// How long no early refresh begins, in seconds.
    let pausesEarly: Double

    var isAnswer: Bool { self.age < self.answers }
    var isPause: Bool { self.age < self.pauses }
    var isEarlyPause: Bool { self.age < self.pausesEarly }
  }

  /// The effects of the last failure at a date; nil without a failure.
  func rest(at date: Date) -> Rest? {
    guard self.remembersFailures, let failure = self.failure else { return nil }
    let age = date.timeIntervalSince(failure.date)
    // A date in the future: the clock was set back, so the age is unknown.
    guard age >= 0 else { return nil }
    let configuration = self.configuration
    var answers = 0.0
    // Users decide which failures count: asked with no lock held, and only while that matters.
    if let cached = configuration.cachedFailures, age < cached.seconds, cached.isCached(failure.error) {
      answers = cached.seconds
    }
    return Rest(
      failure: failure,
      age: age,
      answers: answers,
      pauses: max(configuration.maximumAge == nil ? 0 : configuration.retryPause, answers),
      pausesEarly: max(configuration.earlyRetryPause, answers)
    )
  }

  /// Keeps the failure of a run, and forgets it when a value comes, or an invalidation.
  ///
  /// - Returns: What is no longer needed, to be released after the lock of the store.
  func noteFailure<State: OperationState & Sendable>(_ shown: ShownState, as type: State.Type) -> LastFailure? {
    if shown.changes.contains(.invalidation) { return self.forgetFailureAtInvalidation() }
    guard let state = shown.confirmedState(as: State.self) else { return nil }
    guard let error = state.error else { return self.replaceFailure(with: nil) }
    // While an invalidation is unanswered, the run may have begun before it: its caller knows.
    guard let context = shown.resultContext, context.operationResultUpdateReason == .returnedFinalResult,
      !shown.isInvalidated, !error.isLocalRejection
    else { return nil }
    return self.replaceFailure(with: LastFailure(error: error, date: context.date))
  }

  /// Keeps the failure of a run that a call has waited for while the store was invalidated.
  ///
  /// - Parameters:
  ///   - answer: The answer to the call.
  ///   - call: The call.
  ///   - invalidations: What the record had heard of before the call joined the run.
  func noteFailure(_ answer: StoreCallAnswer, of call: StoreCall, afterInvalidations invalidations: Int) {
    guard self.remembersFailures, let error = answer.outcome.error, !answer.outcome.isCancellation,
      !error.isLocalRejection, call.state == nil
    else { return }
    let failure = LastFailure(error: error, date: call.context.date)
    _ = self.replaceFailure(with: failure, ifInvalidationsAre: invalidations)
  }
}

internal import OperationFoundation

// MARK: - Attempts

extension OperationContext {
  /// The number of this attempt within its run, counting from 1.
  ///
  /// In a handler it is the attempt that has caused the event. It is 1 for operations without a modifier that makes
  /// several attempts, such as a retry.
  public var operationAttempt: Int { self.run.attempts?.number ?? 1 }

  /// Whether a modifier of the operation may make further attempts.
  ///
  /// A modifier that tries again sets it in its setup. The state then shows the attempt of a run from the first one on,
  /// at no cost to the run: see ``OperationState/attempt``. Without it, the state shows attempts once one has failed.
  public var operationMakesAttempts: Bool {
    get { self.run.makesAttempts }
    set {
      // A write would copy storage that other contexts share.
      if self.run.makesAttempts != newValue { self.run.makesAttempts = newValue }
    }
  }

  /// Reports that the attempt with this context has failed and that another one will begin.
  ///
  /// For modifiers that run an operation several times within one run: call it before the wait for the next attempt,
  /// which ``beginNextAttempt(after:)`` begins. The state of the store then shows the attempt, and its handlers are
  /// called. The stores of callers that share the run are notified as well. It has no effect outside a store.
  ///
  /// - Parameters:
  ///   - error: The error of the attempt; nil if it asks for another one without having failed.
  ///   - delay: The time until the next attempt begins; nil if that is unknown. A negative one counts as zero.
  public func attemptFailed(with error: (any Error)?, nextAfter delay: Duration? = nil) {
    guard self.mayReportProgress else { return }
    var attempt = OperationAttempt(index: self.operationAttempt, lastFailure: error)
    if let delay { attempt.nextBegins = self.date.addingTimeInterval(delay.clampedForClock.seconds) }
    self.report(.attemptFailed(attempt))
  }

  /// Advances the context to the next attempt of the run.
  ///
  /// For modifiers that run an operation several times within one run, such as a retry: call it on the context of each
  /// attempt except the first. It updates ``operationAttempt`` and the state of the store, and notifies the modules
  /// that measure the run.
  ///
  /// - Parameter error: The error of the previous attempt; nil if it has asked for another one without having failed.
  public mutating func beginNextAttempt(after error: (any Error)?) {
    let attempts = self.run.attempts
    let number = (attempts?.number ?? 1) + 1
    let listeners = attempts?.listeners ?? []
    self.run.attempts = RunAttempts(number: number, listeners: listeners, marks: attempts?.marks ?? [])
    for listener in listeners { listener(self, error) }
    if self.mayReportProgress { self.report(.attemptBegan(OperationAttempt(index: number, lastFailure: error))) }
  }

  /// Counts the attempts of the run from 1 again if the run has committed a value since the last call.
  ///
  /// For modifiers that run an operation several times within one run: call it when an attempt has failed. A stream that has
  /// lost its connection after an hour has not failed for the fourth time because it was lost three times before.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  ///
  /// - Returns: Whether the failed attempt counts as the first: the run has committed a value by
  ///   ``OperationContinuation/commit(_:as:using:)``.
  public mutating func restartAttemptsAfterCommit() -> Bool {
    guard let entries = self.run.outcomeEntries, entries.takeCommit() else { return false }
    if let attempts = self.run.attempts {
      self.run.attempts = RunAttempts(number: 1, listeners: attempts.listeners, marks: attempts.marks)
    }
    return true
  }

  /// Adds a listener that is called when an attempt other than the first begins with this context or a copy of it.
  ///
  /// - Parameter listener: Receives the context of the attempt and the error of the previous one, if that has failed.
  package mutating func onNextAttempt(_ listener: @escaping @Sendable (OperationContext, (any Error)?) -> Void) {
    let attempts = self.run.attempts
    self.run.attempts = RunAttempts(
      number: self.operationAttempt,
      listeners: (attempts?.listeners ?? []) + [listener],
      marks: attempts?.marks ?? []
    )
  }

  /// Marks the run with this context, so that a modifier does something once in a run, for all that share the mark.
  ///
  /// This context and its copies have the mark, also in later attempts. Contexts that were copied before have not, and
  /// neither has the run of another operation.
  ///
  /// ```swift
  /// // In `run`, where several of these modifiers may be around the operation:
  /// var context = context
  /// if context.markRun(self.quota) { self.quota.count() }
  /// ```
  ///
  /// - Parameter mark: An object, compared by identity, which the context retains.
  /// - Returns: False if the run has the mark already.
  /// - Complexity: O(*n*) in the marks of the run, which are few.
  public mutating func markRun(_ mark: some AnyObject & Sendable) -> Bool {
    if self.isRunMarked(mark) { return false }
    let attempts = self.run.attempts
    self.run.attempts = RunAttempts(
      number: self.operationAttempt,
      listeners: attempts?.listeners ?? [],
      marks: (attempts?.marks ?? []) + [mark]
    )
    return true
  }

  /// Returns whether the run has a mark that ``markRun(_:)`` has set in this context, or in one that it was copied from.
  ///
  /// - Parameter mark: An object, compared by identity.
  /// - Returns: Whether the run has the mark.
  public func isRunMarked(_ mark: some AnyObject & Sendable) -> Bool {
    self.run.attempts?.marks.contains { $0 === mark } ?? false
  }

  /// Resets the attempts for a run of another operation, which is in its first attempt and has no listeners.
  ///
  /// The store of this context is not notified of the attempts of that run.
  package mutating func forgetAttempts() {
    // A write would copy storage that other contexts share.
    if self.run.attempts != nil { self.run.attempts = nil }
    if self.run.makesAttempts { self.run.makesAttempts = false }
    if self.run.store != nil, !self.run.hidesProgress { self.run.hidesProgress = true }
  }
}

/// The number of a run's current attempt, the listeners to call when the next one begins, and the marks of the run.
///
/// In the copy of the task that a state keeps, it also has the reported attempt and the pause.
final class RunAttempts: Sendable {
  let number: Int
  let listeners: [@Sendable (OperationContext, (any Error)?) -> Void]
  /// What modifiers have marked the run with, such as the budgets that it has deposited into.
  let marks: [any AnyObject & Sendable]
  /// The last attempt that was reported; nil if none was.
  let reported: OperationAttempt?
  /// The wait of the run; nil if it is not paused.
  let pause: RunPause?

  init(
    number: Int,
    listeners: [@Sendable (OperationContext, (any Error)?) -> Void] = [],
    marks: [any AnyObject & Sendable] = [],
    reported: OperationAttempt? = nil,
    pause: RunPause? = nil
  ) {
    self.number = number
    self.listeners = listeners
    self.marks = marks
    self.reported = reported
    self.pause = pause
  }
}

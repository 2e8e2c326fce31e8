public import OperationCore

/// The state of a ``TimedRun``, whatever its types.
@usableFromInline
struct TimedRunState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    /// The run has not ended, and its caller waits for it.
    case running
    /// The run has ended while its caller waited for it.
    case ended
    /// The time of the run was over before it ended. It is abandoned, and goes on.
    case timedOut
    /// The caller was cancelled and has left. The run goes on.
    case left
    /// The run has ended after its caller had left.
    case over
  }

  /// What is done after a change, while no lock is held.
  @usableFromInline
  struct Effects: Sendable {
    @usableFromInline var timer: OperationSubscription?
    /// The task to cancel.
    @usableFromInline var task: RunTask?

    /// Comes before the caller continues, so that it finds the operation cancelled.
    @usableFromInline
    func perform() {
      self.timer?.cancel()
      self.task?.cancel()
    }
  }

  @usableFromInline var phase = Phase.running
  /// Whether the caller was cancelled and waits for the end of the run nevertheless.
  @usableFromInline var isCancelled = false
  @usableFromInline var task: RunTask?
  @usableFromInline var timer: OperationSubscription?

  @usableFromInline
  init() {}

  /// Ends the run. Its caller continues, if it has not left.
  @usableFromInline
  mutating func finish() -> Effects {
    guard self.phase == .running else {
      self.phase = .over
      return Effects()
    }
    self.phase = .ended
    return Effects(timer: self.timer.take())
  }

  /// Lets the caller leave, and cancels the run, which has not ended.
  mutating func leave(_ phase: Phase) -> Effects {
    self.phase = phase
    return Effects(timer: self.timer.take(), task: self.task)
  }

  /// Cancels the run, and lets the caller wait for its end without a time limit.
  mutating func cancel() -> Effects {
    guard self.phase == .running else { return Effects() }
    self.isCancelled = true
    return Effects(timer: self.timer.take(), task: self.task)
  }
}

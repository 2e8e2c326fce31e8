internal import OperationCore

/// The state of a ``TimedRun``.
struct TimedRunState: Sendable {
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
  struct Effects: Sendable {
    var timer: RunTimer?
    /// The task to cancel.
    var task: RunTask?
    var resumption: Waiter<RunOutcome?>.Resumption?
    /// The work of an abandoned run, which has ended.
    var endedWork: LeftWork?

    /// The operation is cancelled before the caller continues, so that it finds it so.
    func perform() {
      self.timer?.cancel()
      self.task?.cancel()
      self.resumption?.resume()
      self.endedWork?.end()
    }
  }

  var phase = Phase.running
  /// Whether the caller was cancelled and waits for the end of the run nevertheless.
  var isCancelled = false
  var task: RunTask?
  var timer: RunTimer?
  /// The elapsed time at which the timer fires.
  var end: Duration?
  /// Whether the run has gone on after the deadline of its first caller, because another one has joined it.
  var isExtended = false
  /// The work of a run whose caller has left, until it ends.
  var leftWork: LeftWork?
  /// The caller, resumed with the outcome, or with nil when it has left.
  var waiter = Waiter<RunOutcome?>.arriving

  /// Ends the run. Its caller continues, if it has not left.
  mutating func finish(_ outcome: RunOutcome) -> Effects {
    guard self.phase == .running else {
      self.phase = .over
      return Effects(endedWork: self.leftWork.take())
    }
    self.phase = .ended
    return Effects(timer: self.timer.take(), resumption: self.waiter.decide(outcome))
  }

  /// Lets the caller leave, and cancels the run, which has not ended.
  ///
  /// The work that goes on is noted before the caller continues, and before the run can end.
  mutating func leave(_ phase: Phase, in context: OperationContext) -> Effects {
    self.phase = phase
    self.leftWork = context.leaveWork()
    return Effects(timer: self.timer.take(), task: self.task, resumption: self.waiter.decide(nil))
  }

  /// Cancels the run, and lets the caller wait for its end without a time limit.
  mutating func cancel() -> Effects {
    guard self.phase == .running else { return Effects() }
    self.isCancelled = true
    return Effects(timer: self.timer.take(), task: self.task)
  }
}

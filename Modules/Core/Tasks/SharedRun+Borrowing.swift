extension SharedRun {
  // Two methods, not one that receives the work as a closure: the closure would cost 500 instructions.

  /// Starts in the current task, which is lent to this run.
  ///
  /// The caller is an owner of this run already. The delegate is notified of the finish but not of the start.
  ///
  /// - Parameter current: The current task.
  /// - Returns: Whether the caller has to do the work and to call `finish`. False if the run was cancelled before, and
  ///   has finished.
  @inlinable
  package func start(borrowing current: RunTask) -> Bool {
    let (isCancelled, priority) = self.withState { $0.start(in: current) }
    current.catchUp(isCancelled: isCancelled, priority: priority)
    return !isCancelled || !self.finishCancelled()
  }

  /// Ends the loan of the current task to this run, which has finished, and returns the outcome for the lender.
  @inlinable
  package func endLoan(_ loan: TaskLoan, of current: RunTask) -> Outcome {
    guard loan.endLoan() else { return self.outcome }
    current.cancel()
    return self.outcomeOfCancelledLender
  }

  /// The outcome for a lender that was cancelled: a `CancellationError` if `Failure` can represent it.
  @inlinable
  var outcomeOfCancelledLender: Outcome {
    @inline(never) get { Self.cancellation ?? self.outcome }
  }
}

extension SharedRunState {
  /// Starts the run in a task that is executing. Returns what the run received before it had that task.
  @usableFromInline
  mutating func start(in task: RunTask) -> (isCancelled: Bool, priority: UInt8) {
    self.phase = .executing
    self.task = task
    return (self.isCancelled, self.priority)
  }
}

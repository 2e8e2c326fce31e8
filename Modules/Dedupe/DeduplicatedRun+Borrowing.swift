public import OperationCore

/// The task of a store's run, lent to a deduplicated run.
@usableFromInline
struct BorrowedTask {
  @usableFromInline let task: RunTask
  @usableFromInline let loan: TaskLoan

  @inlinable
  init(_ task: RunTask, of loan: TaskLoan) {
    self.task = task
    self.loan = loan
  }
}

extension DeduplicatedRun {
  /// Borrows the current task for the work of the run; nil if that is not the task of a store's run, or cannot be lent.
  ///
  /// Also nil when the run was cancelled before it could start. It has an outcome then.
  @inlinable
  func borrowTask() -> BorrowedTask? {
    // A cancelled task is not borrowed: it would cancel the run for callers that join later.
    guard let loan = self.context.taskLoan, self.isolation == nil, !self.context.hasTaskConfiguration, !Task.isCancelled
    else { return nil }
    let current = RunTask.current
    guard loan.lend(to: self, in: current) else { return nil }
    var sharedRun: Run?
    self.withState { state in
      state.borrowed = current
      sharedRun = state.sharedRun
    }
    guard let sharedRun, !sharedRun.start(borrowing: current) else { return BorrowedTask(current, of: loan) }
    if loan.endLoan() { current.cancel() }
    return nil
  }

  /// Ends the run after its work.
  ///
  /// - Parameters:
  ///   - borrowed: The task that the run has borrowed.
  ///   - outcome: Makes the outcome of the work, which only other callers need.
  /// - Returns: The outcome for the lender; nil if that is the result of the work.
  @inlinable
  func end(_ borrowed: BorrowedTask, with outcome: () -> Outcome) -> Outcome? {
    var sharedRun: Run?
    self.withState { state in
      state.hasEnded = true
      state.borrowed = nil
      sharedRun = state.sharedRun
    }
    if let sharedRun {
      sharedRun.finish(outcome(), of: OperationTask(sharedRun: sharedRun, context: self.context), self)
      return sharedRun.endLoan(borrowed.loan, of: borrowed.task)
    }
    self.registry.remove(self)
    self.removeAll()
    guard borrowed.loan.endLoan() else { return nil }
    borrowed.task.cancel()
    return Run.cancellation
  }
}

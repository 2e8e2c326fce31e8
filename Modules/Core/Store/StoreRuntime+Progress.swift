extension StoreRuntime {
  /// Shows the progress of a run in the state, and notifies the subscribers.
  func note(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    var context = OperationContext()
    // Holds the error of an earlier attempt until the lock has been released.
    var former: Task?
    self.change(context, run: id, replacesValue: false) { machine in
      guard let update = machine.note(progress, of: id) else { return StoreChange() }
      former = update.former
      context = update.context
      if case .attemptFailed = progress { return StoreChange(isStateNew: true, lifecycle: .attemptFailed) }
      return StoreChange(isStateNew: true)
    }
    _ = consume former
  }
}

extension StoreMachine {
  /// Puts the progress of a run into its task. Returns nil, and changes nothing, when the run is not shown.
  ///
  /// The caller releases the former task after the lock.
  mutating func note(
    _ progress: RunProgress,
    of id: OperationTaskIdentifier
  ) -> (former: Task, context: OperationContext)? {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return nil }
    let former = self.runs[index].task
    var task = former
    task.context.run.attempts = .after(progress, former.context.run.attempts)
    self.runs[index].task = task
    self.uniqueExtras().content.hasReportedProgress = true
    self.state.updateFetchTask(task)
    if self.hasUndoLog { self.undoLog?.editBase { $0.updateFetchTask(task) } }
    return (former, task.context)
  }

  /// Writes the attempt that a run is in to the context of an event of the run.
  @inlinable
  func noteAttempt(of id: OperationTaskIdentifier, in context: inout OperationContext) {
    if self.extras?.content.hasReportedProgress == true { self.writeAttempt(of: id, to: &context) }
  }

  // Not inlined: most runs never tell an attempt.
  @usableFromInline
  func writeAttempt(of id: OperationTaskIdentifier, to context: inout OperationContext) {
    guard let attempts = self.index(ofRun: id).flatMap({ self.runs[$0].task.context.run.attempts }) else { return }
    context.run.attempts = attempts
  }
}

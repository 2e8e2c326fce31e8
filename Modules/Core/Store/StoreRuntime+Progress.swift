extension StoreRuntime {
  /// Shows the progress of a run in the state, and notifies the subscribers.
  func note(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    var context = OperationContext()
    // Keeps the error of an earlier attempt until the lock is released.
    var previous: ErasedTask?
    self.change(context, run: id, replacesValue: false) { machine in
      guard let update = machine.note(progress, of: id) else { return StoreChange() }
      previous = update.previous
      context = update.context
      if case .attemptFailed = progress { return StoreChange(isStateNew: true, lifecycle: .attemptFailed) }
      return StoreChange(isStateNew: true)
    }
    _ = consume previous
  }

  /// Shows in the state whether a run makes attempts. A run that waits for another run's work makes none.
  func setMakesAttempts(_ makesAttempts: Bool, of id: OperationTaskIdentifier) {
    var context = OperationContext()
    var previous: ErasedTask?
    self.change(context, run: id, replacesValue: false) { machine in
      guard let update = machine.setMakesAttempts(makesAttempts, of: id) else { return StoreChange() }
      previous = update.previous
      context = update.context
      return StoreChange(isStateNew: true)
    }
    _ = consume previous
  }
}

extension StoreMachine {
  /// Puts into the task of a run in the state whether the run makes attempts.
  ///
  /// - Returns: As ``note(_:of:)`` does; nil also when nothing changes.
  mutating func setMakesAttempts(
    _ makesAttempts: Bool,
    of id: OperationTaskIdentifier
  ) -> (previous: ErasedTask, context: OperationContext)? {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return nil }
    let previous = self.runs[index].task
    if previous.context.run.makesAttempts == makesAttempts { return nil }
    var task = previous
    task.context.run.makesAttempts = makesAttempts
    self.replaceTask(task, at: index)
    return (previous, task.context)
  }

  private mutating func replaceTask(_ task: ErasedTask, at index: Int) {
    self.runs[index].task = task
    self.state.replace(task)
    if self.hasUndoLog { self.undoLog?.editBase { $0.replace(task) } }
  }

  /// Puts the progress of a run into the task of the run in the state.
  ///
  /// - Returns: The previous task, for the caller to release after the lock, and the new context of the run. Nil,
  ///   without a change, when the run is not shown.
  mutating func note(
    _ progress: RunProgress,
    of id: OperationTaskIdentifier
  ) -> (previous: ErasedTask, context: OperationContext)? {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return nil }
    let previous = self.runs[index].task
    var task = previous
    task.context.run.attempts = .after(progress, previous.context.run.attempts)
    self.uniqueExtras().content.hasReportedProgress = true
    self.replaceTask(task, at: index)
    return (previous, task.context)
  }

  /// Writes the attempt that a run is in to the context of an event of the run.
  func noteAttempt(of id: OperationTaskIdentifier, in context: inout OperationContext) {
    if self.extras?.content.hasReportedProgress == true { self.writeAttempt(of: id, to: &context) }
  }

  func writeAttempt(of id: OperationTaskIdentifier, to context: inout OperationContext) {
    guard let attempts = self.index(ofRun: id).flatMap({ self.runs[$0].task.context.run.attempts }) else { return }
    context.run.attempts = attempts
  }
}

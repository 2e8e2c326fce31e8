extension StoreRuntime {
  /// Shows the progress of a run in the state, and notifies the subscribers.
  func note(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    var (lifecycle, event) = (StoreChange.Lifecycle?.none, StoreEvent.What?.none)
    switch progress {
    case .attemptFailed(let attempt): (lifecycle, event) = (.attemptFailed, .attemptFailed(attempt))
    case .attemptBegan(let attempt): event = .attemptBegan(attempt)
    case .paused, .resumed: break
    }
    self.changeTask(of: id, .progress(progress), StoreChange(isStateNew: true, lifecycle: lifecycle), event)
  }

  /// Shows in the state whether a run makes attempts. A run that waits for the work of another run makes none.
  func setMakesAttempts(_ makesAttempts: Bool, of id: OperationTaskIdentifier) {
    self.changeTask(of: id, .makesAttempts(makesAttempts), StoreChange(isStateNew: true))
  }

  private enum TaskChange {
    case progress(RunProgress)
    case makesAttempts(Bool)
  }

  /// If the run is shown, changes its task in the state, and notifies the subscribers.
  ///
  /// - Parameters:
  ///   - id: The run.
  ///   - taskChange: The change. It is not a closure: this function would be compiled once for each closure.
  ///   - notifications: The notifications for the subscribers.
  ///   - event: The event for the observers of the store.
  private func changeTask(
    of id: OperationTaskIdentifier,
    _ taskChange: TaskChange,
    _ notifications: StoreChange,
    _ event: StoreEvent.What? = nil
  ) {
    var context = OperationContext()
    var isShown = false
    self.change(context, run: id, replacesValue: false, event: isShown ? event : nil) { machine, released in
      guard let index = machine.index(ofRun: id), machine.runs[index].isShown else { return StoreChange() }
      isShown = true
      var task = machine.runs[index].task
      // The context may have the error of an earlier attempt.
      released.task = task
      switch taskChange {
      case .progress(let progress):
        task.context.run.attempts = .after(progress, task.context.run.attempts)
        machine.uniqueExtras().content.hasReportedProgress = true
      case .makesAttempts(let makesAttempts):
        if task.context.run.makesAttempts == makesAttempts { return StoreChange() }
        task.context.run.makesAttempts = makesAttempts
      }
      machine.replaceTask(task, at: index)
      context = task.context
      return notifications
    }
  }
}

extension StoreMachine {
  fileprivate mutating func replaceTask(_ task: ErasedTask, at index: Int) {
    self.runs[index].task = task
    self.state.replace(task)
    if self.hasUndoLog { self.undoLog?.editBase { $0.replace(task) } }
  }

  /// Writes the attempt that a run is in to the context of an event of the run.
  func noteAttempt(of id: OperationTaskIdentifier, in context: inout OperationContext) {
    guard self.extras?.content.hasReportedProgress == true, let index = self.index(ofRun: id) else { return }
    if let attempts = self.runs[index].task.context.run.attempts { context.run.attempts = attempts }
  }
}

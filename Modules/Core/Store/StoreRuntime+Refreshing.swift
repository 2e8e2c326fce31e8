extension StoreReference {
  /// Starts a run without a caller, unless a run under way refreshes the whole value.
  ///
  /// The state owns the run, which goes on until it ends or is cancelled for all.
  ///
  /// - Parameter cause: Why the value is refreshed.
  /// - Returns: The context of the run; nil if the client has stopped automatic runs or removed the store, or if the
  ///   store is gone.
  @discardableResult
  public func refreshBehind(because cause: OperationRunCause) -> OperationContext? {
    self.runtime?.refreshBehind(because: cause)
  }
}

extension StoreRuntime {
  /// Starts a run without a caller: see ``StoreReference/refreshBehind(because:)``.
  @discardableResult
  func refreshBehind(because cause: OperationRunCause) -> OperationContext? {
    var context = self.context
    context.run.origin = RunOrigin(cause)
    let (task, running) = self.withMachine { machine -> (ErasedTask?, OperationContext?) in
      if let running = machine.runToJoin { return (nil, machine.context(of: running)) }
      if context.automaticRunsAreStopped || self.isOver { return (nil, nil) }
      var task = ErasedTask(sharedRun: self.makeRun(in: context, ownerCount: 1), context: context)
      task.enterRun(of: self.reference)
      machine.reservedTasks.append(task)
      return (task, task.context)
    }
    if let task { self.act { task.sharedRun.start(in: task.context, mode: .enqueued) } }
    return running
  }

  /// The context of a run that is under way, or about to start.
  func context(of run: SharedRun) -> OperationContext? { self.withMachine { $0.context(of: run) } }
}

extension StoreMachine {
  func context(of run: SharedRun) -> OperationContext? {
    if let index = self.index(ofRun: run.id) { return self.runs[index].task.context }
    return self.reservedTasks.first { $0.id == run.id }?.context
  }
}

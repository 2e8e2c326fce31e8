extension StoreMachine {
  /// Sets a value or an error from outside any run.
  mutating func set(
    _ result: RunOutcome,
    using context: OperationContext,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    self.state.set(result, using: context)
    self.record(.set(result, context), by: nil, &released)
    if result.isSuccess {
      self.answerInvalidations()
      self.noteEpoch(.latest)
    }
    return StoreChange(isStateNew: true)
  }

  /// Sets a value or an error on behalf of a controller.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ released: inout ReleasedValues,
    _ edit: @escaping @Sendable (inout any StoredState) -> Void
  ) -> StoreChange {
    edit(&self.state)
    self.record(.edited(isSuccess: isSuccess, edit), by: nil, &released)
    if isSuccess {
      self.answerInvalidations()
      self.noteEpoch(.latest)
    }
    return StoreChange(isStateNew: true)
  }

  /// Sets a result that a run has yielded, unless the run was cancelled.
  ///
  /// - Parameters:
  ///   - result: The yielded value or error.
  ///   - task: The task of the run, with the context of the yield.
  ///   - isRecorded: Whether the change is recorded to be undone, because the state does not undo it itself.
  ///   - released: Receives the objects to release after the lock.
  /// - Returns: The notifications that are due; none if the run was cancelled.
  mutating func yield(
    _ result: RunOutcome,
    of task: ErasedTask,
    isRecorded: Bool,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    guard let index = self.index(ofRun: task.id), self.runs[index].isShown else { return StoreChange() }
    if isRecorded, !self.hasUndoLog { self.undoLog = UndoLog(base: self.state) }
    self.state.report(result, of: task)
    let change = UndoLog.Change.reported(result, task)
    if self.undoLog?.replaceLast(with: change, by: task.id, replaced: &released.undoneChange) == false {
      self.append(change, by: task.id, &released)
    }
    var notifications = StoreChange(isStateNew: true, bringsResult: true)
    notifications.isWholeResult = result.isSuccess && self.state.isReplaced(by: task)
    if result.isSuccess {
      self.noteEpoch(self.runs[index].epoch, of: task.id, isWhole: notifications.isWholeResult)
    }
    return notifications
  }

  /// Sets a value that a run has committed, unless the run was cancelled. Nothing takes back what the run has yielded so
  /// far.
  ///
  /// - Parameters:
  ///   - result: The value.
  ///   - task: The task of the run, with the context of the yield.
  ///   - hidesOutdatedRuns: Whether to roll back runs that began before an invalidation that this run answers.
  ///   - released: Receives the objects to release after the lock.
  /// - Returns: The notifications that are due; none if the run was cancelled.
  mutating func commitYield(
    _ result: RunOutcome,
    of task: ErasedTask,
    hidesOutdatedRuns: Bool,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    guard let index = self.index(ofRun: task.id), self.runs[index].isShown else { return StoreChange() }
    let (invalidations, epoch) = (self.runs[index].invalidations, self.runs[index].epoch)
    released.undoneChange = self.runs[index].lastCommit
    self.runs[index].lastCommit = .reported(result, task)
    self.state.report(result, of: task)
    if self.hasUndoLog { self.recordOutcome(of: task, with: result, &released) }
    var change = StoreChange(isStateNew: true, bringsResult: true)
    self.settle(&change, result, of: task, from: invalidations, epoch, hidesOutdatedRuns: hidesOutdatedRuns, &released)
    return change
  }

  /// Notes what a value that stays has seen, and answers the invalidations from before its run.
  ///
  /// - Parameters:
  ///   - change: The change that has set the value.
  ///   - outcome: The value, or an error, which answers nothing.
  ///   - task: The task of the run.
  ///   - invalidations: The number of the store's last invalidation when the run began.
  ///   - epoch: The last invalidation of any store then.
  ///   - hidesOutdatedRuns: Whether to roll back runs that began before an invalidation that this run answers.
  ///   - released: Receives the objects to release after the lock.
  mutating func settle(
    _ change: inout StoreChange,
    _ outcome: RunOutcome,
    of task: ErasedTask,
    from invalidations: Int,
    _ epoch: InvalidationEpoch,
    hidesOutdatedRuns: Bool,
    _ released: inout ReleasedValues
  ) {
    guard outcome.isSuccess else { return }
    let isWhole = self.state.isReplaced(by: task)
    self.noteEpoch(epoch, isWhole: isWhole)
    if hidesOutdatedRuns { change.isLate = self.noteLateValue(from: invalidations) }
    guard isWhole else { return }
    change.isWholeResult = true
    self.answerInvalidations(upTo: invalidations, &released)
    if hidesOutdatedRuns { self.rollBackOutdatedRuns(&released) }
  }

  /// Appends a change to the undo log, if there is one.
  ///
  /// - Parameters:
  ///   - change: The change; evaluated only if there is an undo log.
  ///   - owner: The run that made the change; nil when the change cannot be rolled back.
  ///   - released: Receives the objects to release after the lock.
  mutating func record(
    _ change: @autoclosure () -> UndoLog.Change,
    by owner: OperationTaskIdentifier?,
    _ released: inout ReleasedValues
  ) {
    if self.hasUndoLog { self.append(change(), by: owner, &released) }
  }

  mutating func append(
    _ change: UndoLog.Change,
    by owner: OperationTaskIdentifier?,
    _ released: inout ReleasedValues
  ) {
    // The new change may replace earlier ones.
    if self.undoLog?.entries.isEmpty == false { released.append(undoLogOf: self) }
    self.undoLog?.append(change, by: owner)
  }
}

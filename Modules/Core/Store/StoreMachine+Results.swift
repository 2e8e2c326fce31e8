extension StoreMachine {
  /// Sets a value or an error from outside any run.
  @inlinable
  mutating func set(
    _ result: Result<State.StateValue, State.Failure>,
    using context: OperationContext
  ) -> StoreChange {
    self.state.update(with: result, using: context)
    self.record(.set(result, context), by: nil)
    if case .success = result { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// Sets a value or an error on behalf of a controller.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ edit: @escaping @Sendable (inout State) -> Void
  ) -> StoreChange {
    edit(&self.state)
    self.record(.edited(isSuccess: isSuccess, edit), by: nil)
    if isSuccess { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// Sets a result that a run has yielded, unless the run was cancelled.
  ///
  /// - Parameters:
  ///   - result: The yielded value or error.
  ///   - task: The task of the run, with the context of the yield.
  ///   - replaced: Receives the change that the undo log drops, for the caller to release after the lock.
  /// - Returns: The notifications that are due; none if the run was cancelled.
  @inlinable
  mutating func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: StoreTask,
    replaced: inout UndoLog<State>.Change?
  ) -> StoreChange {
    guard self.isShown(task.id) else { return StoreChange() }
    if !State.undoesYields, !self.hasUndoLog { self.undoLog = UndoLog(base: self.state) }
    self.state.update(with: result, for: task)
    let change = UndoLog<State>.Change.reported(result, task)
    if self.undoLog?.replaceLast(with: change, by: task.id, replaced: &replaced) == false {
      self.append(change, by: task.id)
    }
    return StoreChange(isStateNew: true, bringsResult: true)
  }

  /// Appends a change to the undo log, if there is one.
  ///
  /// - Parameters:
  ///   - change: The change; evaluated only if there is an undo log.
  ///   - owner: The run that made the change; nil when the change cannot be rolled back.
  @inlinable
  mutating func record(_ change: @autoclosure () -> UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    if self.hasUndoLog { self.append(change(), by: owner) }
  }

  @usableFromInline
  mutating func append(_ change: UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    // The new change may replace earlier ones, which must not be destroyed under the lock.
    if self.undoLog?.entries.isEmpty == false { self.releaseUndoLog() }
    self.undoLog?.append(change, by: owner)
  }
}

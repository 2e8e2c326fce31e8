extension StoreMachine {
  /// Something outside any run has set a value or an error.
  @inlinable
  mutating func set(
    _ result: Result<State.StateValue, State.Failure>,
    using context: OperationContext
  ) -> StoreChange {
    self.state.update(with: result, using: context)
    self.note(.set(result, context), by: nil)
    if case .success = result { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// A controller has set a value or an error.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ edit: @escaping @Sendable (inout State) -> Void
  ) -> StoreChange {
    edit(&self.state)
    self.note(.edited(isSuccess: isSuccess, edit), by: nil)
    if isSuccess { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// A run has yielded, which shows unless the run was cancelled.
  ///
  /// - Parameter replaced: Gets what the undo log drops, which is released after the lock.
  @inlinable
  mutating func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext,
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

  /// Notes a change in the undo log, if there is one.
  @inlinable
  mutating func note(_ change: @autoclosure () -> UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    if self.hasUndoLog { self.append(change(), by: owner) }
  }

  @usableFromInline
  mutating func append(_ change: UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    // A change may stand for earlier ones, which go then.
    if self.undoLog?.entries.isEmpty == false { self.releaseUndoLog() }
    self.undoLog?.append(change, by: owner)
  }
}

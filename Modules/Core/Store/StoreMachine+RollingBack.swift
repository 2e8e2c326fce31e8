extension StoreMachine {
  /// Undoes all changes of a run and removes the run from the state.
  mutating func rollBack(_ id: OperationTaskIdentifier, _ released: inout ReleasedValues) -> StoreChange {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreChange() }
    self.runs[index].rollBack()
    let task = self.runs[index].task
    if self.hasUndoLog { self.rollBackChanges(of: id, &released) }
    self.removeTask(task, &released)
    return StoreChange(isStateNew: true)
  }

  mutating func rollBackChanges(of id: OperationTaskIdentifier, _ released: inout ReleasedValues) {
    released.append(undoLogOf: self)
    guard let state = self.undoLog?.rollBack(id) else { return }
    self.state = state
    if let epoch = self.undoLog?.epoch { self.valueEpoch = epoch }
    self.uniqueExtras().content.uncountedChanges += 1
  }
}

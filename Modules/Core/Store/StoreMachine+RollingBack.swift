extension StoreMachine {
  /// Undoes all changes of a run and removes the run from the state.
  mutating func rollBack(_ id: OperationTaskIdentifier) -> StoreChange {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreChange() }
    self.runs[index].isShown = false
    let task = self.runs[index].task
    if self.hasUndoLog { self.rollBackChanges(of: id) }
    self.removeTask(task)
    return StoreChange(isStateNew: true)
  }

  mutating func rollBackChanges(of id: OperationTaskIdentifier) {
    self.releaseUndoLog()
    guard let state = self.undoLog?.rollBack(id) else { return }
    self.state = state
    self.uniqueExtras().content.uncountedChanges += 1
  }
}

extension StoreMachine {
  /// Undoes all changes of a run and removes the run from the state.
  mutating func rollBack(_ id: OperationTaskIdentifier, _ released: inout ReleasedValues) -> StoreChange {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreChange() }
    self.runs[index].isShown = false
    let (task, epoch) = (self.runs[index].task, self.runs[index].epoch)
    if self.hasUndoLog { self.rollBackChanges(of: id, &released) }
    self.removeTask(task, &released)
    // The value below was shown when the run began, and had seen what came before that.
    self.noteEpoch(min(epoch, self.valueEpoch))
    return StoreChange(isStateNew: true)
  }

  mutating func rollBackChanges(of id: OperationTaskIdentifier, _ released: inout ReleasedValues) {
    released.append(undoLogOf: self)
    guard let state = self.undoLog?.rollBack(id) else { return }
    self.state = state
    self.valueEpoch = min(self.valueEpoch, self.undoLog?.lowestEpoch ?? self.valueEpoch)
    self.uniqueExtras().content.uncountedChanges += 1
  }
}

extension StoreMachine {
  /// The index of a run that is not the newest. O(log *n*) if runs began in the order of their identifiers.
  func index(ofEarlierRun id: OperationTaskIdentifier) -> Int? {
    // Tasks get their identifiers when they are created, and nearly always begin in that order. If they did not, the
    // linear search below finds the run.
    var (low, high) = (0, self.runs.count)
    while low < high {
      let middle = (low + high) / 2
      if self.runs[middle].id < id { low = middle + 1 } else { high = middle }
    }
    if low < self.runs.count, self.runs[low].id == id { return low }
    return self.runs.lastIndex { $0.id == id }
  }
}

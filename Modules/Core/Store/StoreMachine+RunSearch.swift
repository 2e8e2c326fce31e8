extension StoreMachine {
  /// The index of a run that has not come last, in O(log *n*) where runs began in the order in which their tasks were made.
  @usableFromInline
  func index(ofEarlierRun id: OperationTaskIdentifier) -> Int? {
    // Nearly always runs begin in the order in which their tasks were made.
    var (low, high) = (0, self.runs.count)
    while low < high {
      let middle = (low + high) / 2
      if self.runs[middle].id < id { low = middle + 1 } else { high = middle }
    }
    if low < self.runs.count, self.runs[low].id == id { return low }
    return self.runs.lastIndex { $0.id == id }
  }
}

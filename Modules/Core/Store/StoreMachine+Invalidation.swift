extension StoreMachine {
  /// Records the invalidation with this number, unless a later one was recorded.
  ///
  /// - Returns: The record of the earlier invalidation, for the caller to release after the lock.
  mutating func invalidate(_ number: Int, _ record: InvalidationRecord) -> InvalidationRecord? {
    guard number > self.invalidations else { return nil }
    self.invalidations = number
    let extras = self.uniqueExtras()
    defer { extras.content.invalidation = record }
    return extras.content.invalidation
  }

  /// Notes what the value has seen that the state has from now on.
  ///
  /// - Parameters:
  ///   - epoch: What the value has seen.
  ///   - run: The run that can take the value back; nil for a value that stays.
  ///   - isWhole: Whether it has replaced the whole value.
  mutating func noteEpoch(
    _ epoch: InvalidationEpoch,
    of run: OperationTaskIdentifier? = nil,
    isWhole: Bool = true
  ) {
    self.valueEpoch = isWhole ? epoch : min(epoch, self.valueEpoch)
    if self.hasUndoLog { self.undoLog?.note(epoch, of: run, isWhole: isWhole) }
  }

  /// Notes that a run has set a value that began before an invalidation which another value has answered.
  ///
  /// - Returns: Whether it has: the store is invalidated again.
  mutating func noteLateValue(from invalidations: Int) -> Bool {
    guard invalidations < self.answeredInvalidations else { return false }
    self.answeredInvalidations = invalidations
    return true
  }

  /// Marks all invalidations until now as answered.
  mutating func answerInvalidations() {
    if self.isInvalidated { self.answeredInvalidations = self.invalidations }
  }

  /// The runs that began before the last invalidation and therefore do not answer it. Runs that were rolled back are
  /// left out.
  var runsBeforeInvalidation: [Run] {
    self.runs.filter { $0.isShown && $0.invalidations < self.invalidations }
  }

  /// Whether a new caller can join a run: it has not been cancelled and began after the last invalidation.
  func canServe(_ run: Run) -> Bool {
    run.isShown && run.invalidations >= self.invalidations && run.task.sharedRun.isAlive
  }

  /// Whether a new caller can join the run at an index.
  // Inside a closure over a machine, `canServe(machine.runs[index])` would copy the run.
  func canServeRun(at index: Int) -> Bool { self.canServe(self.runs[index]) }

  /// Whether a new caller can join a run and the run replaces the whole value when it succeeds.
  func canRefresh(_ run: Run) -> Bool { self.canServe(run) && self.state.isReplaced(by: run.task) }

  /// Rolls back the runs that replace the whole value and began before the last answered invalidation.
  mutating func rollBackOutdatedRuns(_ released: inout ReleasedValues) {
    let answered = self.answeredInvalidations
    guard answered > 0 else { return }
    for run in self.runs
    where run.isShown && run.invalidations < answered && self.state.isReplaced(by: run.task) {
      _ = self.rollBack(run.id, &released)
    }
  }
}

extension StoreMachine {
  mutating func invalidate(_ number: Int) {
    if number > self.invalidations { self.invalidations = number }
  }

  /// A value has come that answers for all invalidations until now.
  @inlinable
  mutating func answerInvalidations() {
    if self.isInvalidated { self.answeredInvalidations = self.invalidations }
  }

  /// The runs that do not answer for the last invalidation.
  @inlinable
  var runsBeforeInvalidation: [Run] {
    self.runs.filter { $0.isShown && $0.invalidations < self.invalidations }
  }

  /// Whether a run can serve a caller who comes now: it shows, and no invalidation has come since it began.
  @inlinable
  func canServe(_ run: Run) -> Bool {
    run.isShown && run.invalidations >= self.invalidations && run.task.sharedRun.isAlive
  }

  /// Whether a run can serve a caller who comes now, and brings the whole value anew.
  @usableFromInline
  func canRefresh(_ run: Run) -> Bool { self.canServe(run) && self.state.isRefreshed(by: run.task) }

  /// Hides the runs that began before the last invalidation that was answered: what they bring is older than what is there.
  @usableFromInline
  mutating func hideOutdatedRuns() {
    guard let extras = self.extras, extras.answeredInvalidations > 0 else { return }
    let answered = extras.answeredInvalidations
    for run in self.runs
    where run.isShown && run.invalidations < answered && self.state.isRefreshed(by: run.task) {
      _ = self.rollBack(run.id)
    }
  }
}

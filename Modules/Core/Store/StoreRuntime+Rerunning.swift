extension StoreMachine {
  /// Notes that what the operation needs has come to hold since the runs that are under way began.
  mutating func markRunsPremature() {
    for index in self.runs.indices { self.runs[index].isPremature = true }
    let hasRuns = !self.runs.isEmpty
    if hasRuns != self.hasPrematureRuns { self.hasPrematureRuns = hasRuns }
  }

  /// Whether a run that finishes has failed, perhaps for the want of what has come to hold since it began.
  @usableFromInline
  mutating func failsPrematurely(
    _ id: OperationTaskIdentifier,
    with outcome: Result<State.OperationValue, State.Failure>,
    isCancelled: Bool
  ) -> Bool {
    if self.runs.count <= 1 { self.hasPrematureRuns = false }
    guard !isCancelled, case .failure = outcome, let index = self.index(ofRun: id) else { return false }
    return self.runs[index].isShown && self.runs[index].isPremature
  }
}

extension StoreRuntime {
  /// Runs a stale operation again for the subscribers, as what it needs has come to hold.
  ///
  /// A run that is there began without it, and may be waiting in vain until it gives up: the rerun is then due.
  func rerunSinceChange() {
    guard self.subscriberCount > 0, self.canYieldRerun, self.isStale else { return }
    self.machine.withLock { $0.markRunsPremature() }
    self.runForSubscribers(mode: .enqueued)
  }

  /// Runs a stale operation again for the subscribers, unless a run is there.
  @usableFromInline
  func rerunIfStale() {
    guard self.subscriberCount > 0, self.canYieldRerun, self.isStale else { return }
    self.runForSubscribers(mode: .enqueued)
  }
}

extension StoreMachine {
  /// Marks the current runs premature: a condition of the operation came to hold after they started.
  mutating func markRunsPremature() {
    for index in self.runs.indices { self.runs[index].isPremature = true }
    let hasRuns = !self.runs.isEmpty
    if hasRuns != self.hasPrematureRuns { self.hasPrematureRuns = hasRuns }
  }

  /// Whether a finishing run failed, perhaps because a condition came to hold only after it started.
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
  /// Runs a stale operation again for the subscribers after a condition of the operation came to hold.
  ///
  /// A current run started without the condition. If it fails, the operation runs again.
  func rerunSinceChange() {
    guard self.subscriberCount > 0, self.canYieldRerun, self.isStale else { return }
    self.machine.withLock { $0.markRunsPremature() }
    self.runForSubscribers(mode: .enqueued)
  }

  /// Runs a stale operation again for the subscribers, unless it is running.
  @usableFromInline
  func rerunIfStale() {
    guard self.subscriberCount > 0, self.canYieldRerun, self.isStale else { return }
    self.runForSubscribers(mode: .enqueued)
  }
}

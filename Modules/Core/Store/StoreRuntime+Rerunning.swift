extension StoreRuntime {
  /// Runs a stale operation again for the subscribers, as what it needs has come to hold.
  ///
  /// A run that is there began without it, and may be waiting in vain until it gives up: the rerun is then due.
  func rerunSinceChange() {
    guard self.canYieldRerun, self.isStale else { return }
    self.machine.withLock { machine in
      for index in machine.runs.indices { machine.runs[index].isPremature = true }
    }
    self.runForSubscribers(departure: .enqueued)
  }

  /// Runs a stale operation again for the subscribers, unless a run is there.
  @usableFromInline
  func rerunIfStale() {
    guard self.canYieldRerun, self.isStale else { return }
    self.runForSubscribers(departure: .enqueued)
  }
}

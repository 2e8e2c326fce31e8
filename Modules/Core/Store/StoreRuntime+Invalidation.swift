extension StoreRuntime {
  /// Marks the value stale, whatever the rules say, until a run that begins from now on has succeeded.
  func invalidate() {
    self.machine.withLock { $0.invalidate() }
  }

  /// Runs an invalidated operation again if somebody subscribes: now, or when the runs that began before have ended.
  func rerunAfterInvalidation(isEnqueued: Bool) {
    guard self.operation.canRunUnasked else { return }
    let isDue = self.machine.withLock { machine in
      guard machine.isInvalidated, machine.subscribers.count > 0 else { return false }
      // What those bring is older than the invalidation.
      machine.owesRerun = !machine.runsBeforeInvalidation.isEmpty
      return !machine.owesRerun
    }
    if isDue { self.runForSubscribers(departure: isEnqueued ? .enqueued : .immediate) }
  }

  /// A run has ended while a rerun was owed.
  @usableFromInline
  func rerunIfDue() {
    let isDue = self.machine.withLock { machine in
      guard machine.owesRerun, machine.runsBeforeInvalidation.isEmpty else { return false }
      machine.owesRerun = false
      return machine.isInvalidated && machine.subscribers.count > 0
    }
    if isDue { self.runForSubscribers(departure: .enqueued) }
  }

  /// Waits until the runs have ended that an invalidation has caused, or the current task is cancelled.
  func settledAfterInvalidation() async {
    let earlier = self.machine.withLock { $0.owesRerun ? $0.runsBeforeInvalidation : [] }
    await Self.ended(earlier.map(\.task.flight))
    await Self.ended(self.machine.withLock { $0.heldFlights })
  }

  /// Waits until the given runs have ended, or the current task is cancelled.
  static func ended(_ flights: [RunFlight]) async {
    for flight in flights { await flight.settled() }
  }
}

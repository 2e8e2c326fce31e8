internal import Synchronization

extension StoreRuntime {
  /// Notifies the client and the observers of activity if a change of the machine requires it.
  func activityChanged() {
    let change = self.withMachine { machine in
      let last = machine.reportedActivity
      let change = self.activityChange(of: &machine)
      self.queueActivity(since: last, &machine)
      return change
    }
    if let change { self.notify(of: change) }
    if self.isWatched(.activity) { self.deliver() }
  }

  /// The notifications that a change of the machine requires; nil for none. Called with the lock held.
  func activityChange(of machine: inout StoreMachine) -> StoreActivityChange? {
    machine.reportActivity(isInClient: self.wasInClient, reading: self.nextIdlenessReading())
  }

  /// Returns the sequence number of an idleness check.
  ///
  /// Checks of the machine itself are numbered with the lock held, so later checks have greater numbers. Checks of
  /// drafts leave gaps.
  func nextIdlenessReading() -> UInt32 {
    self.idlenessReadings.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Calls the observers and notifies the client: now, or when the exclusive access of this thread ends.
  func notify(of change: StoreActivityChange) {
    if self.lock.isOwnedByCurrentThread { return self.act { self.notify(of: change) } }
    for observer in change.observers { observer() }
    if let idleness = change.idleness { self.lockedEntry?.idlenessChanged(to: idleness) }
  }

  /// Checks whether the store is idle, and numbers the check.
  func readIdleness() -> StoreIdleness {
    self.withMachine { StoreIdleness(isIdle: $0.isIdle, reading: self.nextIdlenessReading()) }
  }

  /// Calls `observer` after the store gets its first subscriber or run, and after it loses its last.
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    let isClosed = self.noteDependent()
    let isCancelled = AtomicFlag(false)
    let id = self.withMachine { machine in
      if isClosed || machine.isClosed { return UInt64(0) }
      let id = (machine.activityObservers.keys.max() ?? 0) + 1
      machine.activityObservers[id] = { if !isCancelled.isOn { observer() } }
      return id
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      let observer = self.withMachine { $0.activityObservers.removeValue(forKey: id) }
      _ = consume observer  // Released after unlocking.
    }
  }
}

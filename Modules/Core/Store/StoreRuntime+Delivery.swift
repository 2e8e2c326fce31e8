public import Synchronization

extension StoreRuntime {
  /// Hands events over until there are none, unless somebody does so already or the thread has exclusive access.
  @usableFromInline
  func deliver() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    self.deliver(from: self.machine.withLock { $0.beginDelivery() })
  }

  private func deliver(from first: Delivery<State>?) {
    var delivery = first
    while let current = delivery {
      current.perform()
      delivery = self.machine.withLock { $0.nextDelivery() }
    }
  }

  /// Ends a delivery that has not been in the event queue with what has come into it meanwhile.
  @inlinable
  func endDelivery() {
    if !self.machine.withLock({ $0.endDelivery() }) { self.deliverRest() }
  }

  @usableFromInline
  func deliverRest() {
    self.deliver(from: self.machine.withLock { $0.nextDelivery() })
  }

  /// Performs an action between the events, in the order in which they were made.
  @usableFromInline
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let isNext = self.machine.withLock { machine in
      guard mayDeliver, machine.eventQueue.isEmpty, !machine.eventQueue.isDelivering else {
        machine.eventQueue.append(.action(action))
        return false
      }
      machine.eventQueue.isDelivering = true
      return true
    }
    guard isNext else { return }
    action()
    self.endDelivery()
  }

  /// Does something that may call foreign code: now, or when the exclusive access of this thread ends.
  @inlinable
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.machine.isOwnedByCurrentThread {
      self.machine.withLock { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  @inlinable
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.lock.withExclusiveAccess(body)
  }

  @usableFromInline
  func performDeferredActions() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    let (actions, releases) = self.machine.withLock { ($0.takeDeferredActions(), $0.takeDeferredReleases()) }
    self.deliver()
    for action in actions { action() }
    _ = consume releases
  }

  /// Tells the client when the store has become idle or stopped being so, and observers when runs or subscribers are there
  /// that were not, or the other way round.
  @inlinable
  func activityChanged() {
    let change = self.machine.withLock { self.activityChange(of: &$0) }
    if let change { self.notify(of: change) }
  }

  /// What a change of the machine means to the client and to observers.
  @inlinable
  func activityChange(of machine: inout StoreMachine<State>) -> StoreActivityChange? {
    machine.reportActivity(isInClient: self.wasInClient, reading: self.nextIdlenessReading())
  }

  /// A number for a look at whether the store is idle. The last look at what counts is taken under the lock, so that later
  /// looks have later numbers; those at drafts leave gaps.
  @inlinable
  func nextIdlenessReading() -> UInt32 {
    self.idlenessReadings.wrappingAdd(1, ordering: .relaxed).newValue
  }

  @usableFromInline
  func notify(of change: StoreActivityChange) {
    if self.machine.isOwnedByCurrentThread { return self.act { self.notify(of: change) } }
    for observer in change.observers { observer() }
    if let idleness = change.idleness { self.lockedEntry?.idlenessChanged(to: idleness) }
  }
}

extension ClientStorage {
  /// Checks whether the store of an entry is idle, and applies the result.
  func updateIdleness(of entry: StoreEntry) {
    // Checked without this lock: a thread with exclusive access to the store may be waiting for it.
    self.idlenessChanged(of: entry, to: entry.runtime.readIdleness())
  }

  /// Called when the store of an entry becomes idle or is in use again.
  func idlenessChanged(of entry: StoreEntry, to idleness: StoreIdleness) {
    switch self.state.withLock({ self.update(idleness, of: entry, in: &$0) }) {
    case .none: return
    case .waiting: self.deliver()
    case .notifying(let isIdle):
      self.notifyCache(of: entry, isIdle: isIdle)
      self.deliverRest()
    }
  }

  /// The next step after an idleness check.
  private enum IdlenessStep {
    case none
    /// The event is queued: the cache is notified after the earlier events.
    case waiting
    /// The caller notifies the cache now, then delivers the queued events.
    case notifying(isIdle: Bool)
  }

  /// Applies the result of an idleness check to an entry. Called with the lock held.
  private func update(_ idleness: StoreIdleness, of entry: StoreEntry, in state: inout State) -> IdlenessStep {
    guard entry.isInClient, entry.isOutdated(by: idleness.reading) else { return .none }
    // The client keeps an evicted store again while it is in use.
    if !idleness.isIdle, entry.store == nil { entry.store = entry.runtime.store }
    let wasIdle = entry.isIdle
    entry.idlenessReading = idleness.reading
    entry.isIdle = idleness.isIdle && entry.store != nil
    guard wasIdle != entry.isIdle else { return .none }
    if state.queuedEvents.beginDirectly() { return .notifying(isIdle: entry.isIdle) }
    state.queuedEvents.append(entry.isIdle ? .idle(entry) : .active(entry))
    return .waiting
  }

  /// Evicts an idle store: the store stays at its path while it has another owner, and is removed otherwise.
  ///
  /// The check for other owners is made with the lock held, and look-ups retain stores under the same lock. So no
  /// look-up finds a store that is removed, or misses a store that stays.
  func evict(_ entry: StoreEntry, because cause: OperationRunCause) {
    if self.observers.receives(.membership) { entry.runtime.noteEviction(cause) }
    let isRemoved = self.withNode(at: entry.runtime.path) { state, node, released -> Bool in
      guard entry.isIdle, var store = entry.store.take() else { return false }
      entry.isIdle = false
      guard isKnownUniquelyReferenced(&store), let node else {
        released.append(store)
        return false
      }
      self.remove(at: node, from: &state, &released)
      let removed = StoreHandle(runtime: entry.runtime, store: store)
      _ = entry.end()
      self.queue(ClientChange(removed: [removed]), in: &state, &released)
      return true
    }
    if isRemoved { self.observers.storeWasRemoved(entry.runtime, .evicted, by: cause) }
    self.deliver()
  }

  /// Called when the last reference to an evicted store is released.
  func storeIsGone(_ entry: StoreEntry) {
    let cause = self.observers.receives(.membership) ? entry.runtime.evictionCause ?? .release : nil
    let isInClient = self.withNode(at: entry.runtime.path) { state, node, released in
      guard entry.isInClient, let node else { return false }
      self.remove(at: node, from: &state, &released)
      if let store = self.end(entry, isOver: false, in: &state, &released) {
        self.queue(ClientChange(removed: [store]), in: &state, &released)
      }
      return true
    }
    guard isInClient else { return }
    self.observers.storeWasRemoved(entry.runtime, .evicted, by: cause)
    self.deliver()
  }
}

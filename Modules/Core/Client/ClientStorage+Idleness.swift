extension ClientStorage {
  /// Checks whether the store of an entry is idle, and applies the result.
  func updateIdleness(of entry: StoreEntry) {
    // Read outside this lock: a thread with exclusive access to the store may be waiting for this lock.
    self.idlenessChanged(of: entry, to: entry.runtime.readIdleness())
  }

  /// Called when the store of an entry becomes idle or is in use again.
  func idlenessChanged(of entry: StoreEntry, to idleness: StoreIdleness) {
    switch self.state.withLock({ self.note(idleness, of: entry, in: &$0) }) {
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
    /// The change is queued: the cache is notified after the earlier notes.
    case waiting
    /// The caller notifies the cache now, then delivers the queued notes.
    case notifying(isIdle: Bool)
  }

  private func note(_ idleness: StoreIdleness, of entry: StoreEntry, in state: inout State) -> IdlenessStep {
    guard entry.isInClient, entry.isOutdated(by: idleness.reading) else { return .none }
    // A store that is in use is held strongly again.
    if !idleness.isIdle, entry.store == nil { entry.store = entry.runtime.erasedStore }
    let wasIdle = entry.isIdle
    entry.idlenessReading = idleness.reading
    entry.isIdle = idleness.isIdle && entry.store != nil
    guard wasIdle != entry.isIdle else { return .none }
    if state.notes.beginDirectly() { return .notifying(isIdle: entry.isIdle) }
    state.notes.append(entry.isIdle ? .idle(entry) : .active(entry))
    return .waiting
  }

  /// Evicts an idle store: the store stays at its path while another owner holds it, and is removed otherwise.
  ///
  /// The check for other owners holds the lock, and look-ups retain stores under the same lock. So no look-up finds a
  /// store that is removed, or misses a store that stays.
  func evict(_ entry: StoreEntry) {
    self.withNode(at: entry.runtime.path) { state, node, released in
      guard entry.isIdle, var store = entry.store.take() else { return }
      entry.isIdle = false
      guard isKnownUniquelyReferenced(&store), let node else { return released.append(store) }
      self.remove(at: node, from: &state, &released)
      let removed = StoreHandle(runtime: entry.runtime, store: store)
      _ = entry.end()
      self.note(ClientChange(removed: [removed]), in: &state, &released)
    }
    self.deliver()
  }

  /// Called when the last reference to an evicted store is released.
  func storeIsGone(_ entry: StoreEntry) {
    let isInClient = self.withNode(at: entry.runtime.path) { state, node, released in
      guard entry.isInClient, let node else { return false }
      self.remove(at: node, from: &state, &released)
      if let store = self.end(entry, in: &state, &released) {
        self.note(ClientChange(removed: [store]), in: &state, &released)
      }
      return true
    }
    if isInClient { self.deliver() }
  }
}

/// Changes of the entries, all of them under the lock.
extension ClientStorage {
  /// An entry of a store that is about to be kept.
  func makeEntry(of new: StoreHandle, isIdle: Bool, in state: inout State) -> StoreEntry {
    let client = state.client ?? StoreEntryClient(self, cache: self.cache)
    state.client = client
    let entry = StoreEntry(client: client, runtime: new.runtime, store: new.store, isIdle: isIdle)
    new.runtime.keep(entry)
    return entry
  }

  /// Takes out the entry at a node, which the caller holds.
  func remove(at node: PathIndex.NodeID, from state: inout State, _ released: inout ReleasedValues) {
    var freed: [OperationPath.Element] = []
    state.entries.removeValue(at: node, freed: &freed)
    if !freed.isEmpty { released.append(freed) }
  }

  /// Ends an entry that has been taken out.
  ///
  /// - Returns: The store that leaves with it. Where there is none any more, it is one that stands for it, if there are watchers.
  func end(_ entry: StoreEntry, in state: inout State, _ released: inout ReleasedValues) -> StoreHandle? {
    released.append(entry)
    if entry.isIdle { state.notes.append(.active(entry)) }
    if let store = entry.end() ?? entry.runtime.erasedStore { return StoreHandle(runtime: entry.runtime, store: store) }
    return state.watchers.isEmpty ? nil : StoreHandle(runtime: entry.runtime, store: entry.runtime.makeStandIn())
  }

  /// Lets the watchers that there are hear of a change.
  func note(_ change: ClientChange, in state: inout State, _ released: inout ReleasedValues) {
    if change.isEmpty { return }
    guard !state.watchers.isEmpty else { return released.append(change) }
    var change = change
    change.lastWatcherID = state.lastWatcherID
    state.notes.append(.change(change))
  }

  func note(
    insertionOf entry: StoreEntry,
    _ new: StoreHandle,
    replacing replaced: StoreEntry?,
    in state: inout State,
    _ released: inout ReleasedValues
  ) {
    if !state.watchers.isEmpty || replaced != nil {
      var change = ClientChange(added: [new])
      if let replaced, let store = self.end(replaced, in: &state, &released) { change.removed.append(store) }
      self.note(change, in: &state, &released)
    }
    if entry.isIdle { state.notes.append(.idle(entry)) }
  }
}

// MARK: - Idle stores

extension ClientStorage {
  /// Looks whether the store of an entry is idle, and acts on that.
  func updateIdleness(of entry: StoreEntry) {
    // Outside this lock: a thread with exclusive access to the store may be waiting for it.
    self.idlenessChanged(of: entry, to: entry.runtime.readIdleness())
  }

  /// The store of an entry has become idle, or stopped being so.
  func idlenessChanged(of entry: StoreEntry, to idleness: StoreIdleness) {
    switch self.state.withLock({ self.note(idleness, of: entry, in: &$0) }) {
    case .none: return
    case .waiting: self.deliver()
    case .telling(let isIdle):
      self.notifyCache(of: entry, isIdle: isIdle)
      self.deliverRest()
    }
  }

  /// What is to follow from a look at whether a store is idle.
  private enum IdlenessStep {
    case none
    /// The cache hears of it after what was before.
    case waiting
    /// The caller delivers, and begins with this.
    case telling(isIdle: Bool)
  }

  private func note(_ idleness: StoreIdleness, of entry: StoreEntry, in state: inout State) -> IdlenessStep {
    guard entry.isInClient, entry.isOutdated(by: idleness.reading) else { return .none }
    // In use again, it is held again.
    if !idleness.isIdle, entry.store == nil { entry.store = entry.runtime.erasedStore }
    let wasIdle = entry.isIdle
    entry.idlenessReading = idleness.reading
    entry.isIdle = idleness.isIdle && entry.store != nil
    guard wasIdle != entry.isIdle else { return .none }
    guard state.notes.isEmpty, !state.isDelivering else {
      state.notes.append(entry.isIdle ? .idle(entry) : .active(entry))
      return .waiting
    }
    state.isDelivering = true
    return .telling(isIdle: entry.isIdle)
  }

  /// Lets go of an idle store: it stays at its path while it is held elsewhere, and leaves otherwise.
  ///
  /// Whether it is held is decided under the lock, under which look-ups take stores: no look-up finds a store that leaves, and
  /// none misses a store that stays.
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

  /// A store that the client does not hold has lost its last reference.
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

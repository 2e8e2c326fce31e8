// Changes of the entries. All of these methods are called with the lock held.
extension ClientStorage {
  /// Creates the entry of a store that is about to be inserted.
  func makeEntry(of new: StoreHandle, isIdle: Bool, in state: inout State) -> StoreEntry {
    let client = state.client ?? StoreEntryClient(self, cache: self.cache)
    state.client = client
    let entry = StoreEntry(client: client, runtime: new.runtime, store: new.store, isIdle: isIdle)
    new.runtime.keep(entry)
    return entry
  }

  /// Removes the entry at a node. The caller has a reference to it, so that it is not released under the lock.
  func remove(at node: PathIndex.NodeID, from state: inout State, _ released: inout ReleasedValues) {
    var freed: [OperationPath.Element] = []
    state.entries.removeValue(at: node, freed: &freed)
    if !freed.isEmpty { released.append(freed) }
  }

  /// Ends an entry that was removed.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - isOver: Whether the store is over: it was removed on demand.
  ///   - state: The state of the client.
  ///   - released: Receives what is to be released after the lock.
  /// - Returns: The store. If it no longer exists, a stand-in for the watchers, or nil without watchers.
  func end(
    _ entry: StoreEntry,
    isOver: Bool,
    in state: inout State,
    _ released: inout ReleasedValues
  ) -> StoreHandle? {
    released.append(entry)
    if entry.isIdle { state.queuedEvents.append(.active(entry)) }
    if let store = entry.end(isOver: isOver) ?? entry.runtime.store {
      return StoreHandle(runtime: entry.runtime, store: store)
    }
    return state.watchers.isEmpty ? nil : StoreHandle(runtime: entry.runtime, store: entry.runtime.makeStandIn())
  }

  /// Queues a change for the current watchers.
  func queue(_ change: ClientChange, in state: inout State, _ released: inout ReleasedValues) {
    if change.isEmpty { return }
    guard !state.watchers.isEmpty else { return released.append(change) }
    var change = change
    change.lastWatcherID = state.lastWatcherID
    state.queuedEvents.append(.change(change))
  }

  /// Queues the events of an insertion for the watchers and the cache.
  func queue(
    insertionOf entry: StoreEntry,
    _ new: StoreHandle,
    replacing replaced: StoreEntry?,
    in state: inout State,
    _ released: inout ReleasedValues
  ) {
    if !state.watchers.isEmpty || replaced != nil {
      var change = ClientChange(added: [new])
      // A store that is put again at its path stays in the client, with another entry.
      if let replaced,
        let store = self.end(replaced, isOver: replaced.runtime !== entry.runtime, in: &state, &released)
      {
        change.removed.append(store)
      }
      self.queue(change, in: &state, &released)
    }
    if entry.isIdle { state.queuedEvents.append(.idle(entry)) }
  }
}

extension ClientStorage {
  func watch(_ path: OperationPath, onChange: @escaping @Sendable (ClientChange) -> Void) -> OperationSubscription {
    let watcher = StoreWatcher(path: path, onChange: onChange)
    let id = self.state.withLock { state in
      state.lastWatcherID += 1
      state.watchers[state.lastWatcherID] = watcher
      return state.lastWatcherID
    }
    return OperationSubscription { [weak self] in
      watcher.cancel()
      self?.state.withLock { state, released in released.append(state.watchers.removeValue(forKey: id)) }
    }
  }

  /// Delivers the queued notes to the cache and the watchers, unless another thread is already delivering.
  func deliver() {
    let isDelivering = self.state.withLock { state in
      defer { state.isDelivering = true }
      return state.isDelivering
    }
    if !isDelivering { self.deliverRest() }
  }

  func deliverRest() {
    while true {
      let (notes, watchers) = self.state.withLock { state -> ([Note], [UInt64: StoreWatcher]) in
        defer { state.notes = [] }
        if state.notes.isEmpty { state.isDelivering = false }
        return (state.notes, state.watchers)
      }
      if notes.isEmpty { return }
      let sortedWatchers = watchers.sorted { $0.key < $1.key }
      for note in notes {
        switch note {
        case .change(let change):
          // Later watchers were added when the change was already visible.
          for (id, watcher) in sortedWatchers where id <= change.lastWatcherID { watcher.receive(change) }
        case .idle(let entry): self.notifyCache(of: entry, isIdle: true)
        case .active(let entry): self.notifyCache(of: entry, isIdle: false)
        }
      }
    }
  }

  func notifyCache(of entry: StoreEntry, isIdle: Bool) {
    let store = entry.idleStore
    if isIdle { self.cache.storeDidBecomeIdle(store) } else { self.cache.storeDidBecomeActive(store.id) }
  }
}

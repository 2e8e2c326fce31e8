extension ClientStorage {
  /// Delivers the queued events to the cache and the watchers, unless another thread is delivering.
  func deliver() {
    self.deliver(from: self.state.withLock { ($0.queuedEvents.begin(), $0.watchers) })
  }

  /// Delivers the events that were queued during the delivery in progress, and ends it.
  func deliverRest() {
    self.deliver(from: self.state.withLock { ($0.queuedEvents.next(), $0.watchers) })
  }

  private func deliver(from first: (QueuedEvent?, [UInt64: StoreWatcher])) {
    var next = first
    while case (let event?, let watchers) = next {
      switch event {
      case .change(let change):
        // Later watchers were added when the change was visible.
        for (id, watcher) in watchers.sorted(by: { $0.key < $1.key }) where id <= change.lastWatcherID {
          watcher.receive(change)
        }
      case .idle(let entry): self.notifyCache(of: entry, isIdle: true)
      case .active(let entry): self.notifyCache(of: entry, isIdle: false)
      }
      next = self.state.withLock { ($0.queuedEvents.next(), $0.watchers) }
    }
  }

  func notifyCache(of entry: StoreEntry, isIdle: Bool) {
    let store = entry.idleStore
    if isIdle { self.cache.storeDidBecomeIdle(store) } else { self.cache.storeDidBecomeActive(store.id) }
  }
}

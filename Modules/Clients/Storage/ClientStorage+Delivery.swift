extension ClientStorage {
  /// Delivers the queued events to the cache and the watchers, unless another thread is delivering.
  func deliver() {
    self.deliver(
      from: self.state.withLock { state in state.queuedEvents.begin().map { ($0, state.watchers) } }
    )
  }

  /// Delivers the events that were queued during the delivery in progress, and ends it.
  func deliverRest() {
    // Nearly always there are none.
    if self.state.withLock({ $0.queuedEvents.end() }) { return }
    self.deliver(from: self.nextDelivery())
  }

  /// The next event with the present watchers.
  private func nextDelivery() -> (QueuedEvent, [UInt64: StoreWatcher])? {
    self.state.withLock { state in state.queuedEvents.next().map { ($0, state.watchers) } }
  }

  private func deliver(from first: (QueuedEvent, [UInt64: StoreWatcher])?) {
    var next = first
    while let (event, watchers) = next {
      switch event {
      case .change(let change):
        // Later watchers were added when the change was visible.
        for (id, watcher) in watchers.sorted(by: { $0.key < $1.key }) where id <= change.lastWatcherID {
          watcher.receive(change)
        }
      case .idle(let entry): self.notifyCache(of: entry, isIdle: true)
      case .active(let entry): self.notifyCache(of: entry, isIdle: false)
      case .attachment(let attach): attach()
      }
      next = self.nextDelivery()
    }
  }

  func notifyCache(of entry: StoreEntry, isIdle: Bool) {
    let store = entry.idleStore
    if isIdle { self.cache.storeDidBecomeIdle(store) } else { self.cache.storeDidBecomeActive(store.id) }
  }
}

extension ClientStorage {
  /// Goes on with the next store of a path: after the removals under way, and after the events queued so far.
  ///
  /// - Parameter attach: Looks the store up. Called with no lock held.
  func performAfterRemovals(_ attach: @escaping @Sendable () -> Void) {
    self.state.withLock { state in
      state.attachments.append(attach)
      state.releaseAttachments()
    }
    self.deliver()
  }
}

extension ClientStorage {
  /// The clearing of everything that is under way; nil if there is none.
  var clearing: ClientClearing? { self.state.withLock { $0.clearing } }

  /// The number of clearings that have begun.
  var era: ClientEra { ClientEra(rawValue: self.state.withLock { $0.clearingCount }) }

  /// Begins to clear everything. Returns the clearing that is under way already.
  func begin(_ clearing: ClientClearing) -> ClientClearing? {
    self.state.withLock { state in
      if let underWay = state.clearing { return underWay }
      state.clearing = clearing
      state.clearingCount += 1
      return nil
    }
  }

  /// Notes a removed store with a run.
  func note(removed runtime: StoreRuntime) {
    self.state.withLock { state, released in
      if state.removed.count >= 16, state.removed.count & (state.removed.count - 1) == 0 {
        for (id, store) in state.removed {
          // This may be the last reference by now.
          if let runtime = store.runtime { released.append(runtime) } else { state.removed[id] = nil }
        }
      }
      state.removed[ObjectIdentifier(runtime)] = RemovedStore(runtime: runtime)
    }
  }

  /// Returns the removed stores that may have runs, and forgets them.
  func takeRemoved() -> [StoreRuntime] {
    let removed = self.state.withLock { state in
      defer { state.removed = [:] }
      return state.removed
    }
    return removed.values.compactMap(\.runtime)
  }

  /// Lets go on what has waited for the end of the clearing.
  func endClearing() {
    let former = self.state.withLock { state in
      let former = state.clearing.take()
      state.releaseAttachments()
      return former
    }
    former?.open()
    self.deliver()
  }
}

extension ClientStorage.State {
  /// Queues what waits for the removals and for a clearing, if none is under way.
  mutating func releaseAttachments() {
    guard self.removalsUnderWay == 0, self.clearing == nil, !self.attachments.isEmpty else { return }
    for attach in self.attachments { self.queuedEvents.append(.attachment(attach)) }
    self.attachments = []
  }
}

internal import OperationCore
internal import Synchronization

extension StateWriter {
  /// Makes changes, unless another process has removed all values since this one has read the storage.
  ///
  /// - Throws: The error of the storage, or ``StorageEraHasEnded``.
  func make(_ changes: [StorageChange]) async throws {
    guard self.isShared else { return try await self.storage.apply(changes) }
    try await self.loadInvalidations()
    let conditions = self.state.withLock { $0.era.map { [$0.condition] } } ?? []
    if case .refused = try await self.storage.apply(changes, if: conditions) { throw StorageEraHasEnded() }
  }

  /// Begins an era, before all values are removed: what other processes write from now on is refused.
  func beginEra() async throws {
    guard self.isShared else { return }
    let (era, bytes) = StorageEra.next()
    try await self.storage.apply([.put(key: StorageEra.key, value: bytes)])
    self.state.withLock { $0.era = era }
  }

  /// Forgets the values that another process has removed: those that wait to be written, and those of the stores.
  func followEra() async {
    do {
      let entries = try await self.storage.entries(withPrefix: StoredInvalidations.prefix)
      // Before anything is dropped: what is put later is of this era, or is refused if the next one has begun.
      self.state.withLock { $0.era = StorageEra(entries) }
    } catch {
      // The next write is refused again, and this is done once more.
      self.report(error, in: "read which values another process has removed")
    }
    // First, so that no new store begins with a value that was read ahead; and afterwards what the stores have put.
    self.dropAll()
    let clients = self.state.withLock { $0.clients.compactMap(\.persistence) }
    for client in clients { client.resetStores(keptIn: self) }
    self.dropAll()
    for client in clients { client.report(clearedBy: self) }
  }

  private func dropAll() {
    var deadlines: [OperationSubscription] = []
    let flushes = self.state.withLock { state, released -> [StateFlush] in
      state.lastNumber += 1
      for key in state.pending.keys.sorted() {
        guard var item = state.pending.removeValue(forKey: key) else { continue }
        if let deadline = item.deadline.clear() { deadlines.append(deadline) }
        released.append(item)
      }
      state.cache.discard(StorageKey.values)
      state.recentChanges.note(removalOf: StorageKey.values, number: state.lastNumber)
      state.upkeep.didRemoveAll(withPrefix: StorageKey.values)
      state.invalidations.forget()
      for flush in state.waiters { flush.isComplete = false }
      return state.takeSettledFlushes()
    }
    for deadline in deadlines { deadline.cancel() }
    for flush in flushes { flush.outcome.decide(false) }
  }
}

/// A client whose stores are kept in the storage of a writer.
struct WriterClient: Sendable {
  weak let persistence: ClientPersistence?
}

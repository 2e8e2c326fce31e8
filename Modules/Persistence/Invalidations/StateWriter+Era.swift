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
      let unwritten = state.unwrittenInvalidations
      for key in state.pending.keys.sorted() {
        guard var item = state.pending.removeValue(forKey: key) else { continue }
        if let deadline = item.deadline.clear() { deadlines.append(deadline) }
        released.append(item)
      }
      state.cache.discard(StorageKey.values)
      state.recentChanges.note(removalOf: StorageKey.values, number: state.lastNumber)
      state.upkeep.didRemoveAll(withPrefix: StorageKey.values)
      state.droppedNumber = state.lastNumber
      state.forgetInvalidations(unwritten: unwritten, &released)
      for flush in state.waiters { flush.isComplete = false }
      return state.takeSettledFlushes()
    }
    for deadline in deadlines { deadline.cancel() }
    for flush in flushes { flush.outcome.decide(false) }
  }
}

extension StateWriter.State {
  /// The entries of invalidations that are not written.
  fileprivate var unwrittenInvalidations: [(key: String, oldest: UInt64)] {
    [self.pending, self.writing].flatMap { $0.map { (key: $0.key, oldest: $0.value.oldest) } }
      .filter { $0.key.hasPrefix(StoredInvalidations.prefix) }
  }

  /// Forgets the invalidations, except that those which are not written become one of everything.
  fileprivate mutating func forgetInvalidations(
    unwritten: [(key: String, oldest: UInt64)],
    _ released: inout ReleasedValues
  ) {
    guard let (key, bytes) = self.invalidations.forget(unwritten: unwritten.map(\.key)) else { return }
    let deadlines = self.retryDeadlines ?? OperationContext().operationDeadlines
    self.putDue(bytes, for: key, deadlines, &released)
    // A flush waits for it as it has waited for them.
    if let oldest = unwritten.map(\.oldest).min() { self.pending[key]?.oldest = oldest }
  }
}

/// A client whose stores are kept in the storage of a writer.
struct WriterClient: Sendable {
  weak let persistence: ClientPersistence?
}

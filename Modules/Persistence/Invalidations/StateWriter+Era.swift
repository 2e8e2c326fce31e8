internal import OperationCore
internal import Synchronization

extension StateWriter {
  /// Makes changes, unless another process has removed all values since this one has read the storage.
  ///
  /// - Throws: The error of the storage, or ``StorageEraHasEnded``.
  func make(_ changes: [StorageChange]) async throws {
    guard self.isShared else { return try await self.storage.apply(changes) }
    try await self.loadInvalidations()
    try await self.finishRemoval()
    if case .refused = try await self.applyInEra(changes) { throw StorageEraHasEnded() }
  }

  /// Begins an era, before all values are removed: what other processes write from now on is refused.
  ///
  /// What this process has put since it was to begin the era may wait to be written. If another process has removed all values
  /// meanwhile, that is forgotten first, or it would be written in the era that begins here.
  func beginEra() async throws {
    let (era, changes) = StorageEra.next()
    while case .refused = try await self.applyInEra(changes) { try await self.readAndFollowEra() }
    self.state.withLock { $0.era = era }
  }

  /// Removes what is left of the former user's values, if all are to be removed and that is not finished, by whichever process.
  ///
  /// If another process has begun the next era meanwhile, what is left there is removed as well. Only the writer may follow that era,
  /// because what it is writing may be of the era before; its next write is refused.
  ///
  /// - Returns: Whether the era is the one that this process knows.
  @discardableResult
  nonisolated(nonsending) func finishRemoval() async throws -> Bool {
    guard let known = self.state.withLock({ $0.era }), known.isOpen else { return true }
    var era = known
    while era.isOpen {
      if try await self.removeAll(in: era) { break }
      era = StorageEra(try await self.storage.entries(withPrefix: StoredInvalidations.prefix))
    }
    self.state.withLock { state in
      if state.era?.isSame(as: known) == true { state.era?.close() }
    }
    return era.isSame(as: known)
  }

  /// Removes all values, while an era is open.
  ///
  /// - Returns: Whether they were removed; false if the era is not open any more, or has ended.
  private nonisolated(nonsending) func removeAll(in era: StorageEra) async throws -> Bool {
    var changes = try await self.removals(withPrefix: StorageKey.values)
    // No value is left that they concern.
    let invalidations = try await self.storage.sizes(withPrefix: StoredInvalidations.prefix)
    changes += invalidations.filter { !StorageEra.contains($0.key) }.map { .remove(key: $0.key) }
    changes.append(StorageEra.closing)
    for batch in Self.durable(changes) {
      if case .refused = try await self.storage.apply(batch, if: era.removalConditions) { return false }
    }
    return true
  }

  /// Makes changes if no other process has removed all values since the era was read, or before it is read.
  func applyInEra(_ changes: [StorageChange], if conditions: [StorageCondition] = []) async throws -> StorageOutcome {
    let era = self.isShared ? self.state.withLock { $0.era } : nil
    return try await self.storage.apply(changes, if: conditions + (era.map { [$0.condition] } ?? []))
  }

  /// Forgets the values that another process has removed, as ``followEra()`` does, once it is known which era that has begun.
  func readAndFollowEra() async throws {
    try await self.readEra()
    self.forgetFormerEra()
  }

  /// Forgets the values that another process has removed: those that wait to be written, and those of the stores.
  func followEra() async {
    do {
      try await self.readEra()
    } catch {
      // The next write is refused again, and this is done once more.
      self.report(error, in: "read which values another process has removed")
    }
    self.forgetFormerEra()
  }

  /// Reads the era before anything is dropped: what is put later is of this era, or is refused if the next one has begun.
  private func readEra() async throws {
    let entries = try await self.storage.entries(withPrefix: StoredInvalidations.prefix)
    self.state.withLock { $0.era = StorageEra(entries) }
  }

  private func forgetFormerEra() {
    // First, so that no new store begins with a value that was read ahead; and afterwards what the stores have put.
    self.dropAll()
    // The stores of a client that is being cleared are empty, and their runs wait for the next user.
    let clients = self.state.withLock { $0.clients.compactMap(\.persistence) }.filter { !$0.isBeingCleared }
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

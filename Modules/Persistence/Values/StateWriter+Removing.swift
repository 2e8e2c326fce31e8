internal import OperationCore
internal import Synchronization

/// The removal of the values at all paths that start with one. It takes its turn among the batches.
final class StateRemoval: Sendable {
  let prefix: String
  /// The number of the newest change that it removes.
  let number: UInt64
  let outcome = AwaitedOutcome<Result<Void, any Error>>()

  init(prefix: String, number: UInt64) {
    self.prefix = prefix
    self.number = number
  }
}

extension StateWriter {
  /// Removes the values whose keys begin with `prefix`: those that are stored, read ahead, and wait to be written.
  ///
  /// The removal has its place among the changes when this returns. `wait(for:)` waits until it is made.
  func beginRemoval(_ prefix: String) -> StateRemoval {
    let restoring = self.state.withLock { $0.restoringStores.values.filter { $0.key.hasPrefix(prefix) } }
    // What they have not handed over is removed as well.
    for store in restoring { store.owner.handOver() }
    var deadlines: [OperationSubscription] = []
    let (removal, flushes, starts) = self.state.withLock { state, released -> (StateRemoval, [StateFlush], Bool) in
      state.lastNumber += 1
      let removal = StateRemoval(prefix: prefix, number: state.lastNumber)
      for key in state.pending.keys.filter({ $0.hasPrefix(prefix) }) {
        guard var item = state.pending.removeValue(forKey: key) else { continue }
        if let deadline = item.deadline.clear() { deadlines.append(deadline) }
        released.append(item)
      }
      if prefix == StorageKey.values { state.forgetInvalidations(isShared: self.isShared, &released) }
      state.cache.discard(prefix)
      state.recentChanges.note(removalOf: prefix, number: removal.number)
      state.removals.append(removal)
      defer { state.isWriting = true }
      return (removal, state.takeSettledFlushes(), !state.isWriting)
    }
    for deadline in deadlines { deadline.cancel() }
    for flush in flushes { flush.outcome.decide(flush.isComplete) }
    for store in self.state.withLock({ $0.restoringStores.values.filter { $0.key.hasPrefix(prefix) } }) {
      store.owner.valueWasRemoved()
    }
    if starts { Task(name: "remove values") { await self.write() } }
    return removal
  }

  /// Waits until a removal is made.
  ///
  /// - Throws: The error of the storage, or `CancellationError` when the task is cancelled; the removal continues then.
  func wait(for removal: StateRemoval) async throws {
    try await removal.outcome.value(cancelled: .failure(CancellationError())).get()
  }

  func perform(_ removal: StateRemoval) async {
    let result: Result<Void, any Error>
    do {
      try await self.removeEntries(removal.prefix)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    self.state.withLock { state, released in
      if case .failure = result { state.invalidations.hasNoValues = false }
      guard let index = state.removals.firstIndex(where: { $0 === removal }) else { return }
      released.append(state.removals.remove(at: index))
    }
    removal.outcome.decide(result)
  }

  private func removeEntries(_ prefix: String) async throws {
    if prefix == StorageKey.values, self.isShared {
      try await self.beginEra()
      // What the next user puts once this has returned is of the last era.
      if try await !self.finishRemoval() { try await self.readAndFollowEra() }
    } else {
      var changes = try await self.removals(withPrefix: prefix)
      if prefix == StorageKey.values {
        // No value is left that they concern.
        changes += try await self.storage.sizes(withPrefix: StoredInvalidations.prefix).map { .remove(key: $0.key) }
      }
      for batch in Self.durable(changes) { try await self.storage.apply(batch) }
    }
    self.state.withLock { $0.upkeep.didRemoveAll(withPrefix: prefix) }
  }

  /// The removals of the stored values whose keys begin with `prefix`, and of their records, which have their paths in their keys.
  nonisolated(nonsending) func removals(withPrefix prefix: String) async throws -> [StorageChange] {
    let values = try await self.storage.sizes(withPrefix: prefix)
    let records = try await self.storage.sizes(withPrefix: StorageKey.use(ofValue: prefix))
    return (values + records).map { .remove(key: $0.key) }
  }

  /// Batches of removals that survive a crash of the system. Those that only remove entries may be undone by it; one that puts an
  /// entry is not.
  static func durable(_ changes: [StorageChange]) -> [[StorageChange]] {
    stride(from: 0, to: changes.count, by: 4_096).map { start in
      Array(changes[start..<min(start + 4_096, changes.count)])
        + [.put(key: StorageKey.probe, value: [1]), .remove(key: StorageKey.probe)]
    }
  }
}

extension StateWriter.State {
  /// Forgets the invalidations, of which no value is left that they concern.
  fileprivate mutating func forgetInvalidations(isShared: Bool, _ released: inout ReleasedValues) {
    for key in self.pending.keys.filter({ $0.hasPrefix(StoredInvalidations.prefix) }) {
      released.append(self.pending.removeValue(forKey: key))
    }
    self.invalidations.removeAll(isShared: isShared)
  }
}

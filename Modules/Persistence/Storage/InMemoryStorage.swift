internal import OperationCore

/// A storage that keeps its entries in memory, for tests and previews.
///
/// Its methods never suspend, so a store whose value it has begins with the value. The entries are lost when the
/// process ends.
///
/// - Complexity: Applying a batch is O(1) a change; reading is O(*n*) in the number of all entries.
public final class InMemoryStorage: PersistentStorage {
  private struct State: Sendable {
    /// By the bytes of the keys, because strings with different bytes may be equal.
    var entries: [[UInt8]: StorageEntry]
    /// By the bytes of the names.
    var leases: [[UInt8]: Lease] = [:]
    var isClosed = false
  }

  private struct Lease: Sendable {
    let owner: [UInt8]
    let end: Duration
  }

  private let state: Locked<State>
  private let elapsed: @Sendable () -> Duration

  /// Creates a storage.
  ///
  /// - Parameter entries: The initial entries. Of several with the same key, the last is kept.
  public convenience init(entries: [StorageEntry] = []) {
    let start = ContinuousClock.now
    self.init(entries: entries, elapsed: { start.duration(to: .now) })
  }

  /// Creates a storage whose leases end by a clock.
  ///
  /// - Parameters:
  ///   - entries: The initial entries. Of several with the same key, the last is kept.
  ///   - elapsed: The time since a fixed moment, by which leases end.
  package init(entries: [StorageEntry] = [], elapsed: @escaping @Sendable () -> Duration) {
    self.elapsed = elapsed
    let entries = entries.map { (Array($0.key.utf8), $0) }
    self.state = Locked(State(entries: Dictionary(entries, uniquingKeysWith: { $1 })))
  }

  nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      return state.entries
    }
    return entries.filter { $0.key.starts(with: prefix.utf8) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map(\.value)
  }

  nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
    try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      for change in batch {
        switch change {
        case .put(let key, let value): state.entries[Array(key.utf8)] = StorageEntry(key: key, value: value)
        case .remove(let key): state.entries[Array(key.utf8)] = nil
        }
      }
    }
  }

  nonisolated(nonsending) public func close() async {
    self.state.withLock { $0.isClosed = true }
  }
}

extension InMemoryStorage: LeasingStorage {
  nonisolated(nonsending) public func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    let now = self.elapsed()
    let (name, owner) = (Array(name.utf8), Array(owner.utf8))
    return try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      state.leases = state.leases.filter { $0.value.end > now }
      if let lease = state.leases[name], lease.owner != owner { return .heldByAnother(remaining: lease.end - now) }
      state.leases[name] = Lease(owner: owner, end: now + duration.clampedForClock)
      return .held
    }
  }

  nonisolated(nonsending) public func releaseLease(_ name: String, owner: String) async throws {
    let (name, owner) = (Array(name.utf8), Array(owner.utf8))
    try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      if state.leases[name]?.owner == owner { state.leases[name] = nil }
    }
  }
}

internal import OperationCore
internal import OperationMutation
internal import OperationPlatform

/// A storage that keeps its entries in memory, for tests and previews.
///
/// Its methods never suspend, so a store whose value it has begins with the value. The entries are lost when the
/// process ends.
///
/// - Complexity: Applying a batch is O(log *n*) comparisons a change, and reading finds its first entry so.
public final class InMemoryStorage: PersistentStorage {
  private struct State: Sendable {
    var entries = ChunkedMap<Key, [UInt8]>()
    /// By the bytes of the names.
    var leases: [[UInt8]: Lease] = [:]
    var isClosed = false
  }

  private struct Key: Comparable, Sendable {
    let text: String
    private let bytes: [UInt8]

    init(text: String) { (self.text, self.bytes) = (text, Array(text.utf8)) }

    // By the bytes, because strings with different bytes may be equal.
    static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
    static func < (left: Self, right: Self) -> Bool {
      let order = memcmp(left.bytes, right.bytes, min(left.bytes.count, right.bytes.count))
      return order < 0 || order == 0 && left.bytes.count < right.bytes.count
    }

    func hasPrefix(_ other: Self) -> Bool {
      other.bytes.count <= self.bytes.count && memcmp(self.bytes, other.bytes, other.bytes.count) == 0
    }
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
    var state = State()
    for entry in entries { state.entries.insert(entry.value, for: Key(text: entry.key)) }
    self.state = Locked(state)
  }

  nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      return state.entries
    }
    var found: [StorageEntry] = []
    let first = Key(text: prefix)
    var iterator = entries.makeIterator(from: first)
    while let entry = iterator.next(), entry.key.hasPrefix(first) {
      found.append(StorageEntry(key: entry.key.text, value: entry.value))
    }
    return found
  }

  nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
    _ = try await self.apply(batch, if: [])
  }

  nonisolated(nonsending) public func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      for condition in conditions {
        let value = state.entries[Key(text: condition.key)]
        let version = value.map { StorageVersion(of: $0, at: condition.key) }
        if version != condition.version { return .refused(condition) }
      }
      for change in batch {
        switch change {
        case .put(let key, let value): state.entries.insert(value, for: Key(text: key))
        case .remove(let key): state.entries.removeValue(for: Key(text: key))
        }
      }
      return .made
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

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
    var isClosed = false
  }

  private let state: Locked<State>

  /// Creates a storage.
  ///
  /// - Parameter entries: The initial entries. Of several with the same key, the last is kept.
  public init(entries: [StorageEntry] = []) {
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

internal import OperationCore

/// A storage that keeps its entries in memory, for tests and previews.
///
/// Its methods never suspend, so a store whose value it keeps has the value as soon as it is made. Another process, or a
/// later start of this one, finds nothing.
///
/// - Complexity: Applying a batch is O(1) a change; reading is O(*n*) in the number of all entries.
public final class InMemoryStorage: PersistentStorage {
  private struct State: Sendable {
    var values: [String: [UInt8]]
    var isClosed = false
  }

  private let state: Locked<State>

  /// Creates a storage.
  ///
  /// - Parameter entries: The entries to begin with. Of those with the same key the last is kept.
  public init(entries: [StorageEntry] = []) {
    let values = entries.map { ($0.key, $0.value) }
    self.state = Locked(State(values: Dictionary(values, uniquingKeysWith: { $1 })))
  }

  nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let values = try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      return state.values
    }
    let matching = values.filter { $0.key.utf8.starts(with: prefix.utf8) }
    return matching.map { StorageEntry(key: $0.key, value: $0.value) }
      .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
    try self.state.withLock { state throws(StorageError) in
      if state.isClosed { throw .closed("in memory") }
      for change in batch {
        switch change {
        case .put(let key, let value): state.values[key] = value
        case .remove(let key): state.values[key] = nil
        }
      }
    }
  }

  nonisolated(nonsending) public func close() async {
    self.state.withLock { $0.isClosed = true }
  }
}

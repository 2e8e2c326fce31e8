internal import OperationCore

extension StateWriter {
  /// Looks up the value with a key without reading the storage: among those that are being written or were read ahead.
  func lookUp(_ key: String) throws -> RestoredEntries.Lookup {
    let (content, cached) = self.state.withLock { state -> (Content?, RestoredEntries.Lookup) in
      if let item = state.pending[key] ?? state.writing[key] { return (item.content, .unknown) }
      return (nil, state.cache.take(key))
    }
    guard let content else { return cached }
    guard let encode = content.encode else { return .missing }
    return .entry(try encode())
  }

  /// Adds a store that waits for its stored value, and defers writing its changes until then.
  ///
  /// - Parameters:
  ///   - store: The store, which is not retained.
  ///   - handOver: Called by a flush, which does not wait until the stored value was read.
  func beginRestoring(_ store: some AnyObject, handOver: @escaping @Sendable () -> Void) {
    let id = ObjectIdentifier(store)
    self.state.withLock { state, released in released.append(state.restoringStores.updateValue(handOver, forKey: id)) }
  }

  func endRestoring(_ store: some AnyObject) {
    let id = ObjectIdentifier(store)
    self.state.withLock { state, released in released.append(state.restoringStores.removeValue(forKey: id)) }
  }

  /// Reads the value with a key from the storage.
  nonisolated(nonsending) func read(_ key: String) async throws -> [UInt8]? {
    let entries = try await self.storage.entries(withPrefix: key)
    return entries.first { $0.key == key }?.value
  }

  /// Reads all values whose keys begin with `prefix`, for stores that are made later.
  ///
  /// - Returns: Their number.
  nonisolated(nonsending) func readAll(_ prefix: String) async throws -> Int {
    let entries = try await self.storage.entries(withPrefix: prefix)
    self.state.withLock { state in
      // A value that waits to be written is newer.
      let present = entries.filter { state.pending[$0.key] == nil && state.writing[$0.key] == nil }
      state.cache.insert(present, prefix: prefix)
    }
    return entries.count
  }
}

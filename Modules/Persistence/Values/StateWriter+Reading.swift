internal import OperationCore
internal import Synchronization

/// A store that waits for its stored value.
struct RestoringStore: Sendable {
  let key: String
  let owner: any LevelStore
}

/// The stored value with a key.
struct StoredValue: Sendable {
  /// The bytes; nil if there is no value.
  let bytes: [UInt8]?
  /// The number of the newest change when the value was stored.
  let number: UInt64
}

extension StateWriter {
  /// Adds a store that waits for its stored value, and defers writing its changes until then.
  ///
  /// - Parameters:
  ///   - owner: Retained until ``endRestoring(_:)``, which it calls at the latest when its store is released.
  ///   - key: The key of its value.
  func beginRestoring(_ owner: any LevelStore, key: String) {
    let replaced = self.state.withLock { state in
      state.recentChanges.beginRead()
      return state.restoringStores.updateValue(RestoringStore(key: key, owner: owner), forKey: ObjectIdentifier(owner))
    }
    _ = consume replaced  // Released after unlocking.
  }

  func endRestoring(_ owner: any LevelStore) {
    let removed = self.state.withLock { state in
      let removed = state.restoringStores.removeValue(forKey: ObjectIdentifier(owner))
      if removed != nil { state.recentChanges.endRead() }
      return removed
    }
    _ = consume removed  // Released after unlocking.
  }

  /// Looks up the value with a key without reading the storage: among those that are being written or were read ahead.
  ///
  /// - Returns: The value; nil if it has to be read.
  func lookUp(_ key: String) throws -> StoredValue? {
    let (content, cached, number) = self.state.withLock { state in state.lookUp(key) }
    if let content { return StoredValue(bytes: try content.encode?(), number: number) }
    return switch cached {
    case .entry(let bytes): StoredValue(bytes: bytes, number: number)
    case .missing: StoredValue(bytes: nil, number: number)
    case .unknown: nil
    }
  }

  /// Reads the value with a key from the storage, for a store that is being restored.
  nonisolated(nonsending) func read(_ key: String) async throws -> StoredValue {
    while true {
      let number = self.state.withLock { $0.lastNumber }
      // The first time with the era of the storage, so that a value of the era before is not stored again.
      try await self.loadInvalidations()
      try await self.finishRemoval()
      let entries = try await self.storage.entries(withPrefix: key)
      // Another store, released since, may have left a newer value that is not written yet. If that cannot be encoded,
      // its write reports it.
      if let newer = try? self.lookUp(key) { return newer }
      let isCurrent = self.state.withLock { !$0.recentChanges.contains(key, after: number) }
      if isCurrent { return StoredValue(bytes: entries.first { $0.key == key }?.value, number: number) }
    }
  }

  /// Reads all values whose keys begin with `prefix`, for stores that are made later.
  ///
  /// - Returns: Their number, and the keys of values that no store can have any more.
  nonisolated(nonsending) func readAll(_ prefix: String) async throws -> (count: Int, outdated: [String]) {
    let number = self.state.withLock { state in
      state.recentChanges.beginRead()
      return state.lastNumber
    }
    defer { self.state.withLock { $0.recentChanges.endRead() } }
    try await self.loadInvalidations()
    try await self.finishRemoval()
    let entries = try await self.storage.entries(withPrefix: prefix)
    let outdated = entries.map(\.key).filter(StorageKey.isOutdated)
    let isOutdated = Set(outdated)
    let current = outdated.isEmpty ? entries : entries.filter { !isOutdated.contains($0.key) }
    let count = self.state.withLock { state in
      let present = current.filter { state.isUnchanged($0.key, since: number) }
      state.cache.insert(present, prefix: prefix)
      // What was changed meanwhile is read by its store.
      if present.count < current.count {
        for entry in current where !state.isUnchanged(entry.key, since: number) { state.cache.touch(entry.key) }
      }
      return current.count
    }
    return (count, outdated)
  }

  /// Discards the values that were read ahead and whose keys begin with `prefix`. They stay in the storage.
  func discardReadAhead(_ prefix: String) {
    self.state.withLock { $0.cache.discard(prefix) }
  }
}

extension StateWriter.State {
  /// The content that is being written, or the value that was read ahead, and the number of the newest change.
  fileprivate mutating func lookUp(_ key: String) -> (StateWriter.Content?, RestoredEntries.Lookup, UInt64) {
    if let item = self.pending[key] { return (item.content, .unknown, self.lastNumber) }
    // What another process has removed is still being written until its write is refused.
    if let item = self.writing[key], item.number > self.droppedNumber, !self.isRemoved(key, number: item.number) {
      return (item.content, .unknown, self.lastNumber)
    }
    if self.isRemoved(key, number: 0) { return (nil, .missing, self.lastNumber) }
    return (nil, self.cache.take(key), self.lastNumber)
  }

  /// Whether a value that was read is the newest one.
  fileprivate func isUnchanged(_ key: String, since number: UInt64) -> Bool {
    self.pending[key] == nil && self.writing[key] == nil && !self.recentChanges.contains(key, after: number)
  }
}

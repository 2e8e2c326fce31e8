internal import OperationCore

extension SealedStorage {
  private static let maximumBatch = 256

  /// Seals everything that previous keys have sealed with the current one, so that those are not needed any more.
  ///
  /// Call it at the start of a program after the key has changed, while no other process writes the storage: what that
  /// one changes meanwhile may be undone. Batches of this process wait until it has ended. If the process ends first,
  /// nothing is lost, and the next call continues.
  ///
  /// - Returns: The number of entries that were sealed anew.
  /// - Throws: The error of the base or of the key.
  /// - Complexity: O(*n*) in the size of the storage.
  @discardableResult
  nonisolated(nonsending) public func reseal() async throws -> Int {
    let keys = try self.keys.get()
    await self.gate.close()
    defer { self.gate.open() }
    let count = try await self.rewrite(SealedSearch(), keys)
    let left = SealedEntries(try await self.base.entries(withPrefix: SealedPlace.root), keys)
    let used = Set(left.unopened.compactMap { SealedPlace.parts(of: $0.place).map { String($0.id) } })
    try await self.forget(keys.members.dropFirst().map(\.id).filter { !used.contains($0) })
    try await self.base.overwriteRemovedEntries()
    return count
  }

  /// Seals what was read anew. A failure is reported once, as the entries can be read without it.
  nonisolated(nonsending) func rewriteWhatWasRead(_ search: SealedSearch, _ keys: SealingKeys) async {
    await self.gate.close()
    defer { self.gate.open() }
    do {
      // Read again, because batches may have been applied since.
      _ = try await self.rewrite(search, keys)
    } catch {
      let isFirst = self.state.withLock { state in
        defer { state.hasFailedToRewrite = true }
        return !state.hasFailedToRewrite
      }
      if isFirst { OperationWarning.report(storageFailedTo: "seal entries with the current key", error) }
    }
  }

  /// Seals what a search finds anew, while no batch is applied.
  private nonisolated(nonsending) func rewrite(_ search: SealedSearch, _ keys: SealingKeys) async throws -> Int {
    var found: [StorageEntry] = []
    for prefix in search.prefixes { found += try await self.base.entries(withPrefix: prefix) }
    let entries = SealedEntries(found, keys)
    let current = Set(entries.opened.filter { $0.rank == 0 }.map { Array($0.entry.key.utf8) })
    // Of several with one key, the one of the newest sealing key is put last.
    let outdated = entries.opened.filter { $0.rank > 0 }.sorted { $0.rank > $1.rank }
    for start in stride(from: 0, to: outdated.count, by: Self.maximumBatch) {
      var changes: [StorageChange] = [.put(key: SealedPlace.keys + keys.first.id, value: [1])]
      for opened in outdated[start..<min(start + Self.maximumBatch, outdated.count)] {
        changes.append(.remove(key: opened.place))
        if current.contains(Array(opened.entry.key.utf8)) { continue }
        changes.append(try self.put(opened.entry, keys))
      }
      try await self.base.apply(changes)
    }
    return outdated.count
  }

  /// The change that puts an entry sealed with the current key.
  private func put(_ entry: StorageEntry, _ keys: SealingKeys) throws -> StorageChange {
    let place = try SealedPlace.place(of: entry.key, keys.first)
    return .put(key: place, value: try self.seal(entry, at: place, keys))
  }

  /// Seals the entries of the base that are not sealed, for a program that seals its storage from now on.
  ///
  /// Call it before the first store and the journal are made, while nothing else uses the base. Of an entry that is
  /// there sealed and unsealed, the sealed one is kept. Files may still have what was removed from them: an
  /// `SQLiteStorage` overwrites it before this returns, and a backup or the cells of a disk may keep it.
  ///
  /// - Returns: The number of entries that were not sealed.
  /// - Throws: The error of the base or of the key. The next call continues.
  /// - Complexity: O(*n*) in the size of the storage.
  @discardableResult
  nonisolated(nonsending) public func sealUnsealedEntries() async throws -> Int {
    let keys = try self.keys.get()
    await self.gate.close()
    defer { self.gate.open() }
    let all = try await self.base.entries(withPrefix: "")
    let sealed = Set(SealedEntries(all, keys).opened.map { Array($0.entry.key.utf8) })
    let entries = all.filter { !$0.key.utf8.starts(with: SealedPlace.root.utf8) }
    for start in stride(from: 0, to: entries.count, by: Self.maximumBatch) {
      var changes: [StorageChange] = [.put(key: SealedPlace.keys + keys.first.id, value: [1])]
      for entry in entries[start..<min(start + Self.maximumBatch, entries.count)] {
        changes.append(.remove(key: entry.key))
        if sealed.contains(Array(entry.key.utf8)) { continue }
        changes.append(try self.put(entry, keys))
      }
      try await self.base.apply(changes)
    }
    try await self.base.overwriteRemovedEntries()
    return entries.count
  }

  /// Removes what does not open with the keys of the storage: entries of other keys, and changed and moved ones.
  ///
  /// - Returns: The number of entries that were removed.
  /// - Throws: The error of the base.
  /// - Complexity: O(*n*) in the size of the storage.
  @discardableResult
  nonisolated(nonsending) public func removeUnopened() async throws -> Int {
    let keys = try self.keys.get()
    await self.gate.close()
    defer { self.gate.open() }
    let all = try await self.base.entries(withPrefix: SealedPlace.root)
    let aside = all.map(\.key).filter { $0.utf8.starts(with: SealedPlace.aside.utf8) }
    let unopened = SealedEntries(all, keys).unopened.map(\.place) + aside
    let unknown = all.map(\.key).filter { key in
      key.utf8.starts(with: SealedPlace.keys.utf8) && keys.rank(of: key.dropFirst(SealedPlace.keys.count)) == nil
    }
    for start in stride(from: 0, to: unopened.count, by: Self.maximumBatch) {
      let places = unopened[start..<min(start + Self.maximumBatch, unopened.count)]
      try await self.base.apply(places.map { .remove(key: $0) })
    }
    try await self.forget(unknown.map { String($0.dropFirst(SealedPlace.keys.count)) })
    try await self.base.overwriteRemovedEntries()
    self.state.withLock { state in
      state.unopened = []
      state.unknownKeys = []
    }
    return unopened.count
  }
}

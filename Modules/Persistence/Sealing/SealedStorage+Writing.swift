internal import OperationCore

extension SealedStorage {
  /// The conditions for the places where an entry may be; nil if the condition does not hold.
  nonisolated(nonsending) func conditions(
    for condition: StorageCondition,
    _ keys: SealingKeys
  ) async throws -> [StorageCondition]? {
    let unopened = SealedEntries.place(ofUnopened: condition.key)
    var found: [StorageEntry] = []
    var conditions: [StorageCondition] = []
    for place in try unopened.map({ [$0] }) ?? self.places(of: condition.key, keys) {
      let entry = try await self.base.entry(with: place)
      if let entry { found.append(entry) }
      conditions.append(entry.map { .unchanged(key: place, $0.version) } ?? .absent(key: place))
    }
    let entry = SealedEntries(found, keys).entries(withPrefix: condition.key).first { entry in
      entry.key.utf8.elementsEqual(condition.key.utf8)
    }
    return entry?.version == condition.version ? conditions : nil
  }

  /// Makes the changes of a batch, while nothing rewrites entries.
  ///
  /// - Returns: Whether they were made. They are not if a condition does not hold.
  nonisolated(nonsending) func write(
    _ batch: [StorageChange],
    if conditions: [StorageCondition],
    _ keys: SealingKeys
  ) async throws -> Bool {
    var changes: [StorageChange] = []
    changes.reserveCapacity(batch.count + 1)
    /// The places whose contents go, those that get others among them.
    var (changed, replaced) = (Set<String>(), Set<String>())
    let knowsUnopened = self.state.withLock { !$0.unopened.isEmpty }
    for change in batch {
      let places: [String]
      switch change {
      case .put(let key, let value):
        places = try self.places(of: key, keys)
        // Both or none: an older key's entry must not come back.
        for place in places.dropFirst() { changes.append(.remove(key: place)) }
        let sealed = try self.seal(StorageEntry(key: key, value: value), at: places[0], keys)
        changes.append(.put(key: places[0], value: sealed))
        if knowsUnopened { replaced.formUnion(places) }
      case .remove(let key):
        places = try SealedEntries.place(ofUnopened: key).map { [$0] } ?? self.places(of: key, keys)
        for place in places { changes.append(.remove(key: place)) }
      }
      if knowsUnopened { changed.formUnion(places) }
    }
    let (unopened, isRegistered) = self.state.withLock { ($0.unopened.intersection(changed), $0.isRegistered) }
    let isNew = !isRegistered && batch.contains { if case .put = $0 { true } else { false } }
    // Without it, a program with another key would not notice what is there.
    if isNew { changes.append(.put(key: SealedPlace.keys + keys.first.id, value: [1])) }
    var kept: [StorageChange] = []
    for place in unopened.intersection(replaced).sorted() { kept += try await self.setAside(place, keys) }
    if !kept.isEmpty { changes = kept + changes }
    if conditions.isEmpty {
      try await self.base.apply(changes)
    } else {
      guard try await self.base.apply(changes, if: conditions) == .made else { return false }
    }
    if !isNew, unopened.isEmpty { return true }
    self.state.withLock { state in
      if isNew { state.isRegistered = true }
      state.unopened.subtract(unopened)
    }
    return true
  }

  /// The places where an entry may be: one for each sealing key.
  private func places(of key: String, _ keys: SealingKeys) throws -> [String] {
    try keys.members.map { try SealedPlace.place(of: key, $0) }
  }

  /// Seals an entry with the current key, for the place that it has with that key.
  func seal(_ entry: StorageEntry, at place: String, _ keys: SealingKeys) throws -> [UInt8] {
    if SealedEntries.place(ofUnopened: entry.key) != nil {
      throw StorageError(
        code: .sealingFailed,
        message: "The key of an entry that does not open cannot be put. Remove that entry, or put another key."
      )
    }
    do {
      return try SealedEntry.seal(entry, keys.first, at: place)
    } catch {
      throw StorageError(
        code: .sealingFailed,
        message: "An entry cannot be sealed, and is not stored. Check the sealing key.",
        cause: error
      )
    }
  }

  /// The changes that keep what is at a place and does not open, before it is replaced.
  private nonisolated(nonsending) func setAside(_ place: String, _ keys: SealingKeys) async throws -> [StorageChange] {
    let entries = try await self.base.entries(withPrefix: place).filter { $0.key == place }
    // Another batch may have replaced it meanwhile.
    guard let entry = entries.first, !SealedEntries(entries, keys).unopened.isEmpty else { return [] }
    let prefix = SealedPlace.aside + place.dropFirst(SealedPlace.root.count) + "~"
    let taken = try await self.base.entries(withPrefix: prefix)
    if taken.contains(where: { $0.value == entry.value }) { return [] }
    let last = taken.compactMap { Int($0.key.dropFirst(prefix.count)) }.max() ?? 0
    return [.put(key: prefix + "\(last + 1)", value: entry.value)]
  }
}

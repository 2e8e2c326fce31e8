internal import OperationCore

extension SealedStorage {
  /// Compares the keys with which something was sealed with those that were given, once.
  nonisolated(nonsending) func checkKeys(_ keys: SealingKeys) async throws {
    if self.state.withLock({ $0.isChecked }) { return }
    let found = try await self.base.entries(withPrefix: SealedPlace.keys)
    let ids = found.map { String($0.key.dropFirst(SealedPlace.keys.count)) }
    var unknown: [String] = []
    for id in ids where keys.rank(of: id) == nil {
      if try await self.isInUse(id) { unknown.append(id) } else { try? await self.forget([id]) }
    }
    let reported = self.state.withLock { state -> [String] in
      state.isChecked = true
      if ids.contains(keys.first.id) { state.isRegistered = true }
      return unknown.filter { state.unknownKeys.insert($0).inserted }
    }
    for id in reported {
      OperationWarning(
        code: .sealingKeyUnknown,
        severity: .failure,
        message: """
          The storage has entries that were sealed with the key \(id), which it was not given. They are kept as they \
          are, and are not read. Pass that key as one of `previousKeys`, or call `removeUnopened()`.
          """
      ).report()
    }
  }

  private nonisolated(nonsending) func isInUse(_ id: String) async throws -> Bool {
    for kind in SealedPlace.Kind.allCases
    where !(try await self.base.entries(withPrefix: "\(kind.places)\(id)/")).isEmpty { return true }
    return false
  }

  /// Removes the notes that keys have sealed something.
  nonisolated(nonsending) func forget(_ ids: [String]) async throws {
    if !ids.isEmpty { try await self.base.apply(ids.map { .remove(key: SealedPlace.keys + $0) }) }
  }

  /// Reports entries that do not open, each of them once.
  func report(_ unopened: [(place: String, refusal: SealedEntry.Refusal)], _ keys: SealingKeys) {
    if unopened.isEmpty { return }
    let new = self.state.withLock { state in
      unopened.filter { entry in
        let isNew = state.unopened.insert(entry.place).inserted
        if case .key(let id) = entry.refusal, state.unknownKeys.contains(id) { return false }
        return isNew
      }
    }
    guard let first = new.first else { return }
    OperationWarning(
      code: .sealedEntryUnopened,
      severity: .failure,
      message: """
        \(new.count) entries of the storage do not open, such as \(first.place): \(first.refusal). They are kept as they \
        are, and are not read. If another key has sealed them, pass it as one of `previousKeys`. `removeUnopened()` \
        removes them.
        """
    ).report()
  }

  /// Reports calls of a journal that are in the base and not sealed, once.
  nonisolated(nonsending) func lookForUnsealedCalls() async throws {
    if self.state.withLock({ $0.hasLookedForUnsealedCalls }) { return }
    let count = try await self.base.entries(withPrefix: StorageKey.journal).count
    let isFirst = self.state.withLock { state in
      defer { state.hasLookedForUnsealedCalls = true }
      return !state.hasLookedForUnsealedCalls
    }
    guard count > 0, isFirst else { return }
    OperationWarning(
      code: .unsealedCalls,
      severity: .failure,
      message: """
        The base of a sealed storage has \(count) calls that are not sealed. They are kept, and a journal with the sealed \
        storage does not make them. Call `sealUnsealedEntries()` before the journal is made.
        """
    ).report()
  }
}

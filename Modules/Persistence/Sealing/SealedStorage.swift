internal import OperationCore

/// A storage that seals the entries of another one, so that its file tells nothing without the key.
///
/// ```swift
/// let storage = SealedStorage(try SQLiteStorage(path: "/var/lib/notes/state.sqlite"), key: key)
/// client.defaultContext.operationStorage = storage
/// ```
///
/// Values, the arguments of calls and the texts of keys are sealed. What stays visible is how many entries there are,
/// their sizes, when they change, which of them are values and which are calls, which of them share the beginning of
/// their path, and how many leases there are. An entry opens only at its place: bytes that were changed or moved are reported
/// as ``OperationCore/OperationWarning/Code/sealedEntryUnopened``, and kept. See <doc:SealedStorages>.
public final class SealedStorage: PersistentStorage {
  /// When an entry that a previous key has sealed is sealed with the current one.
  @nonexhaustive(warn)
  public enum Rewriting: Hashable, Sendable {
    /// When it is written the next time.
    case whenWritten
    /// Also when it is read. For a storage that one process uses: it may undo what another process changes meanwhile.
    case whenRead
  }

  struct State: Sendable {
    /// Whether the keys in the storage were compared with those that were given.
    var isChecked = false
    /// Whether the storage says that the current key has sealed something.
    var isRegistered = false
    var hasLookedForUnsealedCalls = false
    var hasFailedToRewrite = false
    /// The identifiers of keys that were reported.
    var unknownKeys: Set<String> = []
    /// The places of entries that were read and do not open.
    var unopened: Set<String> = []
  }

  /// The storage with the sealed entries.
  public let base: any PersistentStorage

  let keys: Result<SealingKeys, StorageError>
  let rewriting: Rewriting
  let gate = SealingGate()
  let state = Locked(State())
  /// Those of the base; leases in memory if it has none.
  private let leases: any LeasingStorage

  /// Creates a storage.
  ///
  /// - Parameters:
  ///   - base: The storage with the sealed entries. Entries in it that are not sealed are not seen:
  ///     ``sealUnsealedEntries()`` seals them.
  ///   - key: Seals what is written, and opens it.
  ///   - previousKeys: Keys that open what they have sealed earlier, the newest first.
  ///   - rewriting: When an entry that a previous key has sealed is sealed with the current one.
  public init(
    _ base: any PersistentStorage,
    key: any SealingKey,
    previousKeys: [any SealingKey] = [],
    rewriting: Rewriting = .whenWritten
  ) {
    self.base = base
    self.keys = Result { () throws(StorageError) in try SealingKeys(key, previous: previousKeys) }
    self.rewriting = rewriting
    self.leases = base as? any LeasingStorage ?? InMemoryStorage()
  }

  nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let keys = try self.keys.get()
    try await self.checkKeys(keys)
    if prefix == StorageKey.journal { try await self.lookForUnsealedCalls() }
    let search = try SealedSearch(prefix, keys)
    let opened = SealedEntries(try await self.find(search), keys)
    self.report(opened.unopened, keys)
    if self.rewriting == .whenRead, opened.areOutdated { await self.rewriteWhatWasRead(search, keys) }
    return opened.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
    _ = try await self.apply(batch, if: [])
  }

  nonisolated(nonsending) public func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let keys = try self.keys.get()
    await self.gate.enter()
    defer { self.gate.leave() }
    while true {
      var sealed: [StorageCondition] = []
      for condition in conditions {
        guard let places = try await self.conditions(for: condition, keys) else { return .refused(condition) }
        sealed += places
      }
      if try await self.write(batch, if: sealed, keys) { return .made }
      // The bytes at a place have changed. They are opened again, because what is in them may be the same.
    }
  }

  nonisolated(nonsending) public func overwriteRemovedEntries() async throws {
    try await self.base.overwriteRemovedEntries()
  }

  nonisolated(nonsending) public func close() async {
    await self.base.close()
    await self.leases.close()
  }

  /// Reads the entries at the places of a search, at one moment.
  private nonisolated(nonsending) func find(_ search: SealedSearch) async throws -> [StorageEntry] {
    guard search.prefixes.count > 1 else { return try await self.base.entries(withPrefix: search.prefixes[0]) }
    // A batch moves entries from one prefix to another, so none may be applied between the reads.
    let moment = try await self.quietMoment(of: search)
    var found: [StorageEntry] = []
    for prefix in search.prefixes { found += try await self.base.entries(withPrefix: prefix) }
    if let moment, try await self.quietMoment(of: search) == moment { return found }
    return try await self.base.entries(withPrefix: search.broadPrefix)
  }

  /// What stays the same as long as no process applies a batch to the entries of a search; nil if that is not known.
  private nonisolated(nonsending) func quietMoment(of search: SealedSearch) async throws -> QuietMoment? {
    guard let own = self.gate.quietMoment else { return nil }
    guard let shared = self.base as? any LeasingStorage else { return QuietMoment(own: own, foreign: 0) }
    let foreign = try await shared.numberOfForeignChanges(withPrefix: search.broadPrefix)
    return foreign.map { QuietMoment(own: own, foreign: $0) }
  }

  private struct QuietMoment: Equatable {
    /// The number of batches of this object.
    let own: UInt64
    /// The number of changes by other processes, and by other objects of this one.
    let foreign: Int64
  }
}

extension SealedStorage: LeasingStorage {
  nonisolated(nonsending) public func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    // A process with another current key has to find it, too, so it is taken for each key that both may have.
    let names = try self.leaseNames(of: name)
    for name in names {
      let lease = try await self.leases.acquireLease(name, owner: owner, for: duration)
      guard case .heldByAnother = lease else { continue }
      for other in names where other != name { try await self.leases.releaseLease(other, owner: owner) }
      return lease
    }
    return .held
  }

  nonisolated(nonsending) public func releaseLease(_ name: String, owner: String) async throws {
    for name in try self.leaseNames(of: name) { try await self.leases.releaseLease(name, owner: owner) }
  }

  nonisolated(nonsending) public func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64? {
    try await self.leases.numberOfForeignChanges(withPrefix: SealedPlace.Kind(of: prefix).places)
  }

  /// The names of a lease in the base, which do not tell the name of its scope: one for each key, in the same order in
  /// all processes.
  private func leaseNames(of name: String) throws(StorageError) -> [String] {
    var names: [String] = []
    for member in try self.keys.get().members.sorted(by: { $0.id < $1.id }) {
      names.append("\(SealedPlace.root)lease/\(member.id)/\(try member.tag(of: "lease " + name))")
    }
    return names
  }
}

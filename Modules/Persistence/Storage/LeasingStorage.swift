/// A storage that several processes can share, and in which one of them at a time can hold a lease.
///
/// A lease has a name, an owner and an end. Its owner renews it while it needs it. If the owner dies, the lease
/// ends by itself, and another process can take it. A ``MutationJournal`` uses one for each scope, so that two
/// processes with one file do not make the same calls. A lease may end while its owner is suspended, so what the owner
/// writes is conditional: the storage implements ``PersistentStorage/apply(_:if:)`` itself, in one step.
public protocol LeasingStorage: PersistentStorage {
  /// Takes a lease for an owner, or renews the one that it holds, unless another owner holds it.
  ///
  /// The storage decides in one step: of several callers at once, in any process, one gets the lease.
  ///
  /// - Parameters:
  ///   - name: The name of the lease.
  ///   - owner: Identifies the owner: unique among all processes that share the storage.
  ///   - duration: How long the lease lasts from now.
  /// - Returns: Whether the owner holds the lease now, or how long the lease of the other one lasts.
  /// - Throws: An error if the storage cannot be read or written.
  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease

  /// Ends a lease before its time. It has no effect if the owner does not hold the lease.
  ///
  /// - Parameters:
  ///   - name: The name of the lease.
  ///   - owner: The owner that took it.
  /// - Throws: An error if the storage cannot be written.
  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws

  /// Returns a number that grows when another process, or another object of this one, has changed an entry whose key starts
  /// with `prefix`. What was changed by means of this object does not count.
  ///
  /// A ``MutationJournal`` does not read its entries again as long as the number stays, so the cost of a call does not
  /// depend on how many others wait. By default it is nil, and the entries are read.
  ///
  /// - Parameter prefix: The beginning of the keys, up to a slash.
  /// - Returns: The number; nil if it is not known. It may also grow for other reasons.
  /// - Throws: An error if the storage cannot be read.
  nonisolated(nonsending) func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64?
}

extension LeasingStorage {
  nonisolated(nonsending) public func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64? { nil }
}

/// The result of taking a lease of a ``LeasingStorage``.
@nonexhaustive(warn)
public enum StorageLease: Hashable, Sendable {
  /// The caller holds the lease, for the time that it asked for.
  case held

  /// Another owner holds the lease. It ends after this time, unless that owner renews or releases it before.
  case heldByAnother(remaining: Duration)
}

extension PersistentStorage {
  /// The storage itself, if other processes may share it and its leases keep them apart.
  var sharedLeases: (any LeasingStorage)? {
    // A storage in memory belongs to one process.
    if self is InMemoryStorage { return nil }
    if let sealed = self as? SealedStorage { return sealed.base.sharedLeases == nil ? nil : sealed }
    return self as? any LeasingStorage
  }
}

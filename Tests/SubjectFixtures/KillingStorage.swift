#if os(Linux)
  internal import Glibc
  package import OperationPersistence
  internal import Synchronization

  /// A storage that kills the process at one of its calls.
  ///
  /// Each call counts twice: before it is made, and after it has been made and before it returns.
  package final class KillingStorage: PersistentStorage {
    private let base: any PersistentStorage
    private let killAt: Int
    private let count = Atomic(0)

    /// - Parameters:
    ///   - base: The storage that it calls.
    ///   - killAt: The count at which it kills the process; 0 for never.
    package init(_ base: any PersistentStorage, killAt: Int) {
      self.base = base
      self.killAt = killAt
    }

    package var callCount: Int { self.count.load(ordering: .acquiring) }

    nonisolated(nonsending) package func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try await self.counted { try await self.base.entries(withPrefix: prefix) }
    }

    nonisolated(nonsending) package func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) package func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      try await self.counted { try await self.base.apply(batch, if: conditions) }
    }

    nonisolated(nonsending) package func close() async { await self.base.close() }

    /// Makes a call that counts.
    nonisolated(nonsending) fileprivate func counted<R>(
      _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
      self.step()
      let result = try await body()
      self.step()
      return result
    }

    private func step() {
      let number = self.count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
      if number == self.killAt { kill(getpid(), SIGKILL) }
    }
  }

  /// A ``KillingStorage`` over an ``AcceptingStorage``, whose leases count, too.
  package final class KillingLeases: LeasingStorage {
    private let base: any LeasingStorage
    private let storage: KillingStorage

    package init(_ base: any LeasingStorage, accepted: LineFile, killAt: Int) {
      self.base = base
      self.storage = KillingStorage(AcceptingStorage(base, accepted: accepted), killAt: killAt)
    }

    nonisolated(nonsending) package func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try await self.storage.entries(withPrefix: prefix)
    }

    nonisolated(nonsending) package func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) package func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      try await self.storage.apply(batch, if: conditions)
    }

    nonisolated(nonsending) package func acquireLease(
      _ name: String,
      owner: String,
      for duration: Duration
    ) async throws -> StorageLease {
      try await self.storage.counted { try await self.base.acquireLease(name, owner: owner, for: duration) }
    }

    nonisolated(nonsending) package func releaseLease(_ name: String, owner: String) async throws {
      try await self.storage.counted { try await self.base.releaseLease(name, owner: owner) }
    }

    nonisolated(nonsending) package func close() async { await self.storage.close() }
  }
#endif

internal import OperationCore
public import OperationFoundation
internal import Synchronization

/// How much the stored values of a client take, and what became of those that are not stored.
///
/// See `ClientPersistence.statistics`.
public struct PersistenceStatistics: Hashable, Sendable {
  /// The values with one name.
  public struct Usage: Hashable, Sendable {
    /// The number of values.
    public fileprivate(set) var rows = 0

    /// The bytes of the values and of their keys, as far as the storage tells them.
    public fileprivate(set) var bytes = 0

    /// When the oldest of them was set; nil if that is not known of any.
    ///
    /// It is known of values with a maximum age, and of those that were stored while there were limits.
    public fileprivate(set) var oldest: Date?
  }

  /// The values by the names that they were persisted with.
  public fileprivate(set) var names: [String: Usage] = [:]

  /// The values of all names.
  public fileprivate(set) var total = Usage()

  /// The number of changes that wait to be written, or are being written.
  public fileprivate(set) var pendingWrites = 0

  /// How many values were removed because of the limits since the start of the process.
  public fileprivate(set) var evictions = 0

  /// How many values were removed since the start of the process because they were too old, without a store for them.
  public fileprivate(set) var expirations = 0

  /// How often a value was not stored since the start of the process: it was too large, was refused or not encodable.
  public fileprivate(set) var rejections = 0
}

extension ClientPersistence {
  /// How much the stored values of the client take, and how many values were removed or refused.
  ///
  /// It covers the storage of the client's context and the storages that single stores use.
  ///
  /// - Throws: The error of a storage that cannot be read.
  /// - Complexity: O(*n*) in the number of stored values.
  public var statistics: PersistenceStatistics {
    get async throws {
      guard self.findWriters(of: nil, to: "count values") else { return PersistenceStatistics() }
      var statistics = PersistenceStatistics()
      for writer in self.allWriters { try await writer.count(in: &statistics) }
      return statistics
    }
  }
}

extension StateWriter {
  fileprivate nonisolated(nonsending) func count(in statistics: inout PersistenceStatistics) async throws {
    let records = try await self.storage.entries(withPrefix: StorageKey.uses)
    var dates: [String: Int64] = [:]
    for entry in records { dates[StorageKey.value(ofUse: entry.key)] = UseRecord(entry.value)?.dated }
    for size in try await self.storage.sizes(withPrefix: StorageKey.values) {
      let name = StorageKey.escapedName(ofValue: size.key).map { StorageKey.unescaped($0.utf8) } ?? ""
      let bytes = size.key.utf8.count + size.byteCount
      let date = dates[size.key].map { Date(timeIntervalSinceReferenceDate: Double($0)) }
      statistics.names[name, default: PersistenceStatistics.Usage()].add(bytes, date)
      statistics.total.add(bytes, date)
    }
    self.state.withLock { state in
      statistics.pendingWrites += state.pending.count + state.writing.count
      statistics.evictions += state.upkeep.evictionCount
      statistics.expirations += state.upkeep.expirationCount
      statistics.rejections += state.upkeep.rejectionCount
    }
  }
}

extension PersistenceStatistics.Usage {
  fileprivate mutating func add(_ bytes: Int, _ date: Date?) {
    self.rows += 1
    self.bytes += bytes
    if let date { self.oldest = min(self.oldest ?? date, date) }
  }
}

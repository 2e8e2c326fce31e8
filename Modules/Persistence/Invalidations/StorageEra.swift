internal import OperationCore

/// The entry of a storage that changes whenever all values are removed, as when a user signs out.
///
/// Processes that share a storage write values only if the entry is as they know it: in the step that writes, the storage
/// compares it. So a process that has not heard of the removal does not store what it still has.
///
/// An era is open, which a second entry says, until the values of the former user are removed. The process that has begun it may
/// be slow, or may have been ended: each process that finds an open era removes them, before it reads or writes a value.
struct StorageEra: Sendable {
  static let key = StoredInvalidations.prefix + "=era"
  private static let openKey = StoredInvalidations.prefix + "=open"

  /// The bytes of the entry; nil if all values were never removed.
  private let bytes: [UInt8]?
  /// Whether values of the former user may be left.
  private(set) var isOpen: Bool

  /// Reads the era of a storage.
  ///
  /// - Parameter entries: All entries of the invalidations.
  init(_ entries: [StorageEntry]) {
    let bytes = entries.first { $0.key == Self.key }?.value
    self.bytes = bytes
    self.isOpen = bytes != nil && entries.contains { $0.key == Self.openKey && $0.value == bytes }
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    self.isOpen = true
  }

  /// Whether all values were never removed.
  var isFirst: Bool { self.bytes == nil }

  /// Makes a new era, which is open.
  ///
  /// - Returns: The era, and the changes that begin it. They are a removal as well, which a storage may have kept room for on its disk.
  static func next() -> (era: StorageEra, changes: [StorageChange]) {
    let bytes = Array("era1 \(String(UInt64.random(in: 0...UInt64.max), radix: 36))".utf8)
    let entries = [Self.key, Self.openKey].map { StorageChange.put(key: $0, value: bytes) }
    return (StorageEra(bytes: bytes), entries + [.remove(key: StorageKey.probe)])
  }

  /// What has to hold so that values are written.
  var condition: StorageCondition {
    guard let bytes else { return .absent(key: Self.key) }
    return .unchanged(key: Self.key, StorageVersion(of: bytes, at: Self.key))
  }

  /// What has to hold so that values of the former user are removed.
  var removalConditions: [StorageCondition] {
    guard let bytes else { return [self.condition] }
    return [self.condition, .unchanged(key: Self.openKey, StorageVersion(of: bytes, at: Self.openKey))]
  }

  /// Ends the removal.
  static let closing = StorageChange.remove(key: openKey)

  /// Whether an entry belongs to the eras, and is left when everything else is removed.
  static func contains(_ key: String) -> Bool { key == self.key || key == self.openKey }

  func isSame(as other: StorageEra) -> Bool { self.bytes == other.bytes }

  mutating func close() { self.isOpen = false }
}

/// Another process has removed all values of the storage since this one has read it.
struct StorageEraHasEnded: Error {}

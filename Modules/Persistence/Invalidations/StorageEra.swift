internal import OperationCore

/// The entry of a storage that changes whenever all values are removed, as when a user signs out.
///
/// Processes that share a storage write values only if the entry is as they know it: in the step that writes, the storage
/// compares it. So a process that has not heard of the removal does not store what it still has.
struct StorageEra: Sendable {
  static let key = StoredInvalidations.prefix + "=era"

  /// The bytes of the entry; nil if all values were never removed.
  private let bytes: [UInt8]?

  /// Reads the era of a storage.
  ///
  /// - Parameter entries: All entries of the invalidations.
  init(_ entries: [StorageEntry]) {
    self.bytes = entries.first { $0.key == Self.key }?.value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether all values were never removed.
  var isFirst: Bool { self.bytes == nil }

  /// Makes a new era.
  static func next() -> (era: StorageEra, bytes: [UInt8]) {
    let bytes = Array("era1 \(String(UInt64.random(in: 0...UInt64.max), radix: 36))".utf8)
    return (StorageEra(bytes: bytes), bytes)
  }

  /// What has to hold so that values are written.
  var condition: StorageCondition {
    guard let bytes else { return .absent(key: Self.key) }
    return .unchanged(key: Self.key, StorageVersion(of: bytes, at: Self.key))
  }
}

/// Another process has removed all values of the storage since this one has read it.
struct StorageEraHasEnded: Error {}

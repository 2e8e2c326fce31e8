/// What identifies the content of an entry of a ``PersistentStorage``.
///
/// Two contents of one key have different versions, up to chance: a version is a hash of 64 bits. An entry that gets an
/// earlier content again has its earlier version again.
public struct StorageVersion: Hashable, Sendable {
  package let digest: UInt64

  /// The version of an entry with a key and a value.
  ///
  /// - Parameters:
  ///   - value: The bytes of the entry.
  ///   - key: The key of the entry.
  /// - Complexity: O(*n*) in the number of bytes.
  public init(of value: some Sequence<UInt8>, at key: String) {
    // No byte of a key is 0xFF, so the place where the value begins counts.
    self.digest = Self.hash(value, after: Self.hash(0xFF, after: Self.hash(key.utf8)))
  }

  package init(digest: UInt64) {
    self.digest = digest
  }

  /// FNV-1a in 64 bits, of bytes that follow others with the hash `start`.
  package static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
    // A loop over a sequence whose type is not known would take ten times as long.
    bytes.withContiguousStorageIfAvailable { self.hash($0, after: start) }
      ?? bytes.reduce(start) { self.hash($1, after: $0) }
  }

  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, after start: UInt64) -> UInt64 {
    var hash = start
    for byte in bytes { hash = self.hash(byte, after: hash) }
    return hash
  }

  private static func hash(_ byte: UInt8, after start: UInt64) -> UInt64 { (start ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

extension StorageEntry {
  /// The version of the entry, for a condition of a later batch.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var version: StorageVersion { StorageVersion(of: self.value, at: self.key) }
}

/// What has to hold so that a batch of a ``PersistentStorage`` is applied.
public enum StorageCondition: Hashable, Sendable {
  /// The entry has this version: it was neither changed nor removed since it was read or put.
  case unchanged(key: String, StorageVersion)

  /// There is no entry with this key.
  case absent(key: String)

  /// The key of the entry that is compared.
  public var key: String {
    switch self {
    case .unchanged(let key, _), .absent(let key): key
    }
  }

  /// The version that the entry has to have; nil if there must be none.
  public var version: StorageVersion? {
    switch self {
    case .unchanged(_, let version): version
    case .absent: nil
    }
  }
}

/// What has become of a batch with conditions.
public enum StorageOutcome: Hashable, Sendable {
  /// All changes were made.
  case made

  /// None of the changes was made, because this condition does not hold: the entry was changed elsewhere.
  case refused(StorageCondition)
}

extension PersistentStorage {
  /// Reads the entries and compares them, and applies the batch then.
  ///
  /// An entry may be changed elsewhere in between. So this is for a storage that one writer at a time changes, such as
  /// that of one process. A storage that processes share implements the method itself.
  ///
  /// - Parameters:
  ///   - batch: The changes.
  ///   - conditions: What has to hold.
  /// - Returns: Whether the changes were made.
  /// - Throws: The errors of reading and of applying.
  nonisolated(nonsending) public func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    for condition in conditions {
      if try await self.entry(with: condition.key)?.version != condition.version { return .refused(condition) }
    }
    try await self.apply(batch)
    return .made
  }

  /// Reads one entry; nil if there is none.
  nonisolated(nonsending) func entry(with key: String) async throws -> StorageEntry? {
    try await self.entries(withPrefix: key).first { $0.key.utf8.elementsEqual(key.utf8) }
  }
}

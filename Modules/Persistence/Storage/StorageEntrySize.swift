/// The size of an entry of a ``PersistentStorage``.
public struct StorageEntrySize: Hashable, Sendable {
  /// The key of the entry.
  public let key: String

  /// The number of bytes that the storage keeps for its value. A storage that encrypts or compresses may count those.
  public let byteCount: Int

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - byteCount: The number of bytes that the storage keeps for its value.
  public init(key: String, byteCount: Int) {
    self.key = key
    self.byteCount = byteCount
  }
}

extension PersistentStorage {
  /// Reads the entries, and returns their sizes.
  ///
  /// A storage that knows the sizes without reading the values implements the method itself.
  ///
  /// - Parameter prefix: The beginning of the keys.
  /// - Returns: The sizes, in the order of the keys.
  /// - Throws: An error if the storage cannot be read or is closed.
  nonisolated(nonsending) public func sizes(withPrefix prefix: String) async throws -> [StorageEntrySize] {
    try await self.entries(withPrefix: prefix).map { StorageEntrySize(key: $0.key, byteCount: $0.value.count) }
  }
}

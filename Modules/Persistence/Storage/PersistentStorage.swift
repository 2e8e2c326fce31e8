/// Keeps bytes by keys beyond the end of the process: values of stores, and the calls in a ``MutationJournal``.
///
/// ```swift
/// let storage = InMemoryStorage()
/// try await storage.apply([.put(key: "greeting", value: Array("hello".utf8))])
/// let entries = try await storage.entries(withPrefix: "greet")
/// ```
///
/// Any number of stores and journals may share one storage: their keys differ. Keys consist of ASCII characters. A storage
/// may be used from any task. Methods may be called concurrently, and take effect one after the other.
public protocol PersistentStorage: AnyObject, Sendable {
  /// Returns the entries whose keys start with `prefix`, in the order of their keys.
  ///
  /// Keys are compared byte by byte. The entries include all batches that were applied before the call.
  ///
  /// - Throws: An error if the storage cannot be read or is closed. An entry whose bytes are damaged is returned all the
  ///   same: its reader finds out, and keeps it.
  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry]

  /// Makes all changes of a batch, or none of them.
  ///
  /// When it returns, the changes survive the end of the process, and a batch that puts an entry also survives the end of
  /// the system. A batch that only removes may be as lasting as that only together with the next one that puts.
  ///
  /// - Parameter batch: The changes, in order: a later change of a key replaces an earlier one.
  /// - Throws: An error if the storage is full, cannot be written or is closed. It has then made none of the changes.
  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws

  /// Ends the use of the storage, after the batches that are being applied.
  ///
  /// Later calls of other methods throw. Closing a storage again has no effect.
  nonisolated(nonsending) func close() async
}

/// An entry of a ``PersistentStorage``.
public struct StorageEntry: Hashable, Sendable {
  /// The key of the entry.
  public let key: String

  /// The bytes of the entry.
  public let value: [UInt8]

  /// Creates an entry.
  public init(key: String, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

/// A change of a ``PersistentStorage``.
public enum StorageChange: Hashable, Sendable {
  /// Adds an entry, or replaces the one with its key.
  case put(key: String, value: [UInt8])

  /// Removes the entry with a key, if there is one.
  case remove(key: String)

  /// The key of the entry that is changed.
  public var key: String {
    switch self {
    case .put(let key, _), .remove(let key): key
    }
  }
}

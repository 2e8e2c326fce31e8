/// Keeps the values of stores and the calls of a ``MutationJournal`` after the process has ended.
///
/// ```swift
/// let storage = InMemoryStorage()
/// try await storage.apply([.put(key: "greeting", value: Array("hello".utf8))])
/// let entries = try await storage.entries(withPrefix: "greet")
/// ```
///
/// An entry is a key, which consists of ASCII characters, and bytes. Any number of stores and journals may share one
/// storage: their keys differ. A storage may be used from any task. Methods may be called concurrently, and take effect
/// one after the other.
public protocol PersistentStorage: AnyObject, Sendable {
  /// Returns the entries whose keys start with `prefix`, in the order of their keys.
  ///
  /// Keys are compared byte by byte. The entries include all batches that were applied before the call.
  ///
  /// - Parameter prefix: The beginning of the keys.
  /// - Returns: The entries, including those whose bytes are damaged, which their readers detect.
  /// - Throws: An error if the storage cannot be read or is closed.
  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry]

  /// Returns the sizes of the entries whose keys start with `prefix`, in the order of their keys.
  ///
  /// Limits and statistics need them. By default the entries are read.
  ///
  /// - Parameter prefix: The beginning of the keys.
  /// - Returns: The sizes of the entries that `entries(withPrefix:)` would return.
  /// - Throws: An error if the storage cannot be read or is closed.
  nonisolated(nonsending) func sizes(withPrefix prefix: String) async throws -> [StorageEntrySize]

  /// Makes all changes of a batch, or none of them.
  ///
  /// When it returns, the changes survive the end of the process, and a batch that puts an entry also survives a crash
  /// of the system. A batch that only removes entries need not survive such a crash before a later batch puts an entry.
  ///
  /// - Parameter batch: The changes, in order: a later change of a key replaces an earlier one.
  /// - Throws: An error if the storage is full, cannot be written or is closed. It has then made none of the changes.
  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws

  /// Makes all changes of a batch if all conditions hold, or none of them.
  ///
  /// The storage compares and changes in one step: no other batch, of any process, comes in between. So a writer that
  /// has read an entry does not undo what another one has made of it since. A journal writes all entries that it knows
  /// like that.
  ///
  /// ```swift
  /// let outcome = try await storage.apply(
  ///   [.remove(key: entry.key)],
  ///   if: [.unchanged(key: entry.key, entry.version)]
  /// )
  /// ```
  ///
  /// By default the entries are read first, and the batch is applied then, which is right for a storage that one writer
  /// at a time changes.
  ///
  /// - Parameters:
  ///   - batch: The changes, as those of ``apply(_:)``.
  ///   - conditions: What has to hold. The entries that they name need not be those that the batch changes.
  /// - Returns: ``StorageOutcome/made``, or the first condition that does not hold.
  /// - Throws: An error if the storage cannot be read or written, is full or is closed. It has then made none of the
  ///   changes.
  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome

  /// Makes the entries that were removed so far unreadable in the files of the storage, for example when a user signs out.
  ///
  /// Removing all values or all calls does so at its end. By default nothing is done.
  ///
  /// - Throws: An error if the storage is closed, or if another process prevents it: what was removed may then still be
  ///   read by who has the files, until the method is called again.
  nonisolated(nonsending) func overwriteRemovedEntries() async throws

  /// Closes the storage, after the batches that are being applied.
  ///
  /// Later calls of the other methods throw. Closing a storage again has no effect.
  nonisolated(nonsending) func close() async
}

extension PersistentStorage {
  nonisolated(nonsending) public func overwriteRemovedEntries() async throws {}
}

/// An entry of a ``PersistentStorage``.
public struct StorageEntry: Hashable, Sendable {
  /// The key of the entry.
  public let key: String

  /// The bytes of the entry.
  public let value: [UInt8]

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - value: The bytes of the entry.
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

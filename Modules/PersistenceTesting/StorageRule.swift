/// A rule for storages, which stores and journals rely on.
///
/// See `checkStorage`.
@nonexhaustive(warn)
public enum StorageRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The bytes of a value come back as they were put: none, each of the 256, and a million.
  case values
  /// Keys are compared byte by byte. They contain all characters of ASCII except the null character, and others.
  case keys
  /// A newer value replaces the older one, also within one batch.
  case replacement
  /// A removed entry is gone, and a key without an entry may be removed.
  case removal
  /// Only the entries are returned whose keys start with the prefix.
  case prefix
  /// Entries come in the order of the bytes of their keys.
  case order
  /// `sizes(withPrefix:)` lists the keys of the entries, in order, and a longer value of random bytes is larger.
  case sizes
  /// An entry can be read, by any task, as soon as the batch that puts it has returned.
  case visibility
  /// A batch without changes succeeds, and changes nothing.
  case emptyBatch
  /// No reader sees a part of a batch, however large it is.
  case atomicity
  /// Tasks that apply batches at the same time lose none of them.
  case concurrency
  /// A storage that is opened again has all changes that were applied before it was closed.
  case reopening
  /// A batch that cannot be written throws, and leaves the entries as they were.
  case failure
  /// A batch that is refused because of one entry can be split, and the parts without that entry are applied.
  case splitting
  /// A batch is applied if its conditions hold, and not at all otherwise; of several writers that have read one entry,
  /// one changes it.
  case conditions
  /// Of several owners one holds a lease, until it ends or its owner releases it. For a `LeasingStorage`.
  case leases
  /// After `close()` each call throws, and closing again has no effect.
  case closing

  /// The name of the rule.
  public var description: String { self.rawValue }
}

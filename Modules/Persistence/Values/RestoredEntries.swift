/// The entries that were read from a storage before their stores were made.
struct RestoredEntries: Sendable {
  /// The result of looking an entry up without reading the storage.
  enum Lookup: Sendable {
    case entry([UInt8])
    /// The storage has no such entry.
    case missing
    /// The entry has to be read.
    case unknown
  }

  /// The values by their keys; nil for one that was taken, discarded or written since it was read.
  private var values: [String: [UInt8]?] = [:]
  /// The keys of the values in order; nil until they are needed.
  private var keys: [String]?
  /// The prefixes whose entries were all read.
  private var prefixes: [String] = []
  /// The number of entries that were there at once after a read.
  private var readCount = 0
  /// The number of keys that are there without a value.
  private var emptyCount = 0

  /// The number of keys that are kept, with a value or without one.
  var count: Int { self.values.count }

  /// How many keys without a value are kept, unless more entries were read.
  static let maximumEmptyCount = 4_096

  mutating func insert(_ entries: [StorageEntry], prefix: String) {
    self.values.reserveCapacity(self.values.count + entries.count)
    for entry in entries {
      if case .some(nil) = self.values.updateValue(entry.value, forKey: entry.key) { self.emptyCount -= 1 }
    }
    self.keys = nil
    self.readCount = max(self.readCount, self.values.count - self.emptyCount)
    if !self.prefixes.contains(where: { prefix.hasPrefix($0) }) {
      self.prefixes.removeAll { $0.hasPrefix(prefix) }
      self.prefixes.append(prefix)
    }
  }

  /// Marks the entry with a key as out of date, because it is written.
  mutating func touch(_ key: String) {
    guard self.prefixes.contains(where: { key.hasPrefix($0) }) else {
      // What is not known to be missing is read.
      if case .some(nil) = self.values.removeValue(forKey: key) { self.emptyCount -= 1 }
      return
    }
    if case .some(nil) = self.values.updateValue(nil, forKey: key) { return }
    self.noteEmptyKey()
  }

  /// Counts a key that has no value any more. If they are too many, they are forgotten, and with them that other keys are missing:
  /// a process that writes ever new keys would keep all of them.
  private mutating func noteEmptyKey() {
    self.emptyCount += 1
    guard self.emptyCount > max(Self.maximumEmptyCount, 2 * self.readCount) else { return }
    self.values = self.values.filter { $0.value != nil }
    self.keys = nil
    self.prefixes = []
    self.readCount = self.values.count
    self.emptyCount = 0
  }

  /// Discards the entries whose keys begin with `prefix`. Their stores read them from the storage.
  mutating func discard(_ prefix: String) {
    guard !self.values.isEmpty else { return }
    // Keys are ASCII, so strings have the order of their bytes.
    let keys = self.keys ?? self.values.keys.sorted()
    self.keys = keys
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < prefix { low = middle + 1 } else { high = middle }
    }
    for key in keys[low...].prefix(while: { $0.hasPrefix(prefix) }) { self.touch(key) }
  }

  /// Removes and returns the entry with a key. One store gets it; further stores read it from the storage.
  mutating func take(_ key: String) -> Lookup {
    if let index = self.values.index(forKey: key) {
      guard let value = self.values.values[index].take() else { return .unknown }
      self.noteEmptyKey()
      return .entry(value)
    }
    return self.prefixes.contains { key.hasPrefix($0) } ? .missing : .unknown
  }
}

/// The entries that were read from a storage before any store has asked for them.
struct RestoredEntries: Sendable {
  /// What is known of the entry with a key.
  enum Knowledge: Sendable {
    case entry([UInt8])
    /// The storage has no such entry.
    case nothing
    /// It has to be read.
    case unknown
  }

  private var values: [String: [UInt8]] = [:]
  /// What the keys begin with of which all entries were read.
  private var prefixes: [String] = []
  /// The keys whose entries were taken or written since they were read.
  private var touched: Set<String> = []

  mutating func insert(_ entries: [StorageEntry], prefix: String) {
    for entry in entries where !self.touched.contains(entry.key) { self.values[entry.key] = entry.value }
    if !self.prefixes.contains(where: { prefix.hasPrefix($0) }) {
      self.prefixes.removeAll { $0.hasPrefix(prefix) }
      self.prefixes.append(prefix)
    }
  }

  /// Notes that the entry with a key will be written.
  mutating func touch(_ key: String) {
    // Without a read before there is nothing that could be out of date.
    guard !self.prefixes.isEmpty else { return }
    self.values[key] = nil
    self.touched.insert(key)
  }

  /// Takes the entry with a key: it is kept for one store only, the storage has it for the others.
  mutating func take(_ key: String) -> Knowledge {
    if let value = self.values.removeValue(forKey: key) {
      self.touched.insert(key)
      return .entry(value)
    }
    if self.touched.contains(key) { return .unknown }
    return self.prefixes.contains { key.hasPrefix($0) } ? .nothing : .unknown
  }
}

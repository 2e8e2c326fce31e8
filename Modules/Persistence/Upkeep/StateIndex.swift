/// The values that a storage has, with their sizes, in the order of their last uses.
struct StateIndex: Sendable {
  struct Row: Sendable {
    let bytes: Int
    var record: UseRecord
    fileprivate var stamp: UInt64
  }

  private(set) var rows: [String: Row] = [:]
  /// The bytes of all values and their keys.
  private(set) var bytes = 0
  /// The keys in the order of their uses. One that was used again has a later element, with the stamp of its row.
  private var queue: [(stamp: UInt64, key: String)] = []
  /// The first element of the queue that counts.
  private var first = 0
  private var lastStamp: UInt64 = 0

  /// Adds a value, or replaces one, as the one that was used last.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - byteCount: The bytes of the value without its key.
  ///   - record: What else is known of it.
  mutating func set(_ key: String, byteCount: Int, _ record: UseRecord) {
    self.remove(key)
    let bytes = key.utf8.count + byteCount
    self.bytes += bytes
    self.rows[key] = Row(bytes: bytes, record: record, stamp: self.enqueue(key))
  }

  /// Makes a value the one that was used last.
  ///
  /// - Returns: Its record before that; nil if there is no such value.
  mutating func use(_ key: String, at now: Int64) -> UseRecord? {
    guard let record = self.rows[key]?.record else { return nil }
    let stamp = self.enqueue(key)
    self.rows[key]?.stamp = stamp
    self.rows[key]?.record.used = now
    return record
  }

  mutating func remove(_ key: String) {
    guard let row = self.rows.removeValue(forKey: key) else { return }
    self.bytes -= row.bytes
  }

  mutating func removeAll(withPrefix prefix: String) {
    for key in self.rows.keys where key.hasPrefix(prefix) { self.remove(key) }
  }

  /// The values to remove, those first that were not used for the longest time, so that the others are within limits.
  ///
  /// - Parameters:
  ///   - limits: The limits.
  ///   - added: Values that are about to be put, with their bytes. They are not removed.
  /// - Returns: The keys of values of the index.
  mutating func surplus(beyond limits: StorageLimits, adding added: [String: Int] = [:]) -> [String] {
    var (rows, bytes) = (self.rows.count, self.bytes)
    for (key, byteCount) in added {
      if let row = self.rows[key] { bytes -= row.bytes } else { rows += 1 }
      bytes += key.utf8.count + byteCount
    }
    var keys: [String] = []
    var place = self.first
    while !limits.allows(rows: rows, bytes: bytes), place < self.queue.count {
      let (stamp, key) = self.queue[place]
      place += 1
      guard let row = self.rows[key], row.stamp == stamp, added[key] == nil else { continue }
      rows -= 1
      bytes -= row.bytes
      keys.append(key)
    }
    return keys
  }

  private mutating func enqueue(_ key: String) -> UInt64 {
    self.lastStamp += 1
    self.queue.append((self.lastStamp, key))
    while self.first < self.queue.count, self.isOutdated(self.queue[self.first]) { self.first += 1 }
    if self.queue.count > 2 * self.rows.count + 64 {
      self.queue = self.queue[self.first...].filter { !self.isOutdated($0) }
      self.first = 0
    }
    return self.lastStamp
  }

  private func isOutdated(_ element: (stamp: UInt64, key: String)) -> Bool {
    // The newest element has no row with its stamp yet.
    element.stamp != self.lastStamp && self.rows[element.key]?.stamp != element.stamp
  }
}

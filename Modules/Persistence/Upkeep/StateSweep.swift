/// What looking through a storage has found to do.
struct StateSweep: Sendable {
  /// The keys of records whose values are gone.
  var orphans: [String] = []
  /// The values that are too old, with their records.
  var expired: [(key: String, record: UseRecord)] = []
  /// The values that may become too old, and of which is not known when they were set.
  var undated: [String] = []

  var isEmpty: Bool { self.orphans.isEmpty && self.expired.isEmpty && self.undated.isEmpty }

  /// Compares the values of a storage with their records.
  ///
  /// - Parameters:
  ///   - entries: The entries of records.
  ///   - sizes: The sizes of values.
  ///   - ages: How old values may become, by their names as in keys.
  ///   - now: The seconds since the reference date.
  /// - Returns: What there is to do, and the values in the order of their last uses.
  static func plan(
    _ entries: [StorageEntry],
    _ sizes: [StorageEntrySize],
    ages: [String: Int64],
    now: Int64
  ) -> (sweep: StateSweep, index: StateIndex) {
    var sweep = StateSweep()
    var records: [String: UseRecord] = [:]
    for entry in entries { records[StorageKey.value(ofUse: entry.key)] = UseRecord(entry.value) }
    var rows: [(size: StorageEntrySize, record: UseRecord)] = []
    rows.reserveCapacity(sizes.count)
    for size in sizes {
      let age = ages.isEmpty ? nil : StorageKey.escapedName(ofValue: size.key).flatMap { ages[String($0)] }
      // One that was never used is the first to go.
      let record = records.removeValue(forKey: size.key) ?? UseRecord(used: .min)
      if record.dated == nil, age != nil { sweep.undated.append(size.key) }
      if record.isExpired(at: now, defaultAge: age) { sweep.expired.append((size.key, record)) }
      rows.append((size, record))
    }
    let keys = Set(sizes.map(\.key))
    for entry in entries where !keys.contains(StorageKey.value(ofUse: entry.key)) { sweep.orphans.append(entry.key) }
    rows.sort { ($0.record.used, $0.size.key) < ($1.record.used, $1.size.key) }
    var index = StateIndex()
    for (size, record) in rows { index.set(size.key, byteCount: size.byteCount, record) }
    return (sweep, index)
  }
}

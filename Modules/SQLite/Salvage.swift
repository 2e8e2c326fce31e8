#if SwiftOperationSQLite
  internal import OperationPersistence

  /// The entries that can be read from a damaged file, without SQLite.
  ///
  /// Each page is read by itself, so a damaged page hides no other one. Rows show by their checksums that they are
  /// sound, and the index, a tree of its own, has the keys of those that are not. Pages have no rows that were removed:
  /// SQLite overwrites them (`secure_delete`).
  struct Salvage {
    /// The sound entries, by their keys.
    private(set) var entries: [[UInt8]: StorageEntry] = [:]
    /// What is left of entries that are damaged, by their keys.
    private(set) var damaged: [[UInt8]: StorageEntry] = [:]
    /// How many entries of each prefix were stored, as far as it can be read.
    private(set) var tallies: [String: Tally] = [:]

    /// The sound rows of damaged pages, which may have been removed.
    private var carved: [[UInt8]: StorageEntry] = [:]
    /// Rows without their checksums, by their identifiers.
    private var unsound: [Int64: (key: String, value: [UInt8], checksum: Int64)] = [:]
    /// The keys in the index, by the identifiers of their rows.
    private var index: [Int64: String] = [:]
    private var soundIDs: [Int64: [UInt8]] = [:]

    init(_ pages: DatabasePages) {
      for number in stride(from: 1, through: pages.count, by: 1) {
        self.read(pages.page(number), at: number == 1 ? 100 : 0, in: pages)
      }
      for page in pages.loose { self.carve(page, in: pages) }
      self.useCarvedRows()
      self.dropRemovedRows()
      self.nameDamagedRows()
    }

    /// Whether there is anything that only this library stores.
    var isOfThisLibrary: Bool { !self.entries.isEmpty || !self.tallies.isEmpty }

    /// How many entries of each prefix are missing without a trace.
    var missing: [String: Int64] {
      var counts = self.tallies.mapValues(\.count)
      for entry in [self.entries, self.damaged].joined().map(\.value) {
        counts[TallyTable.prefix(of: entry.key)]? -= 1
      }
      return counts.filter { $0.value > 0 }
    }

    /// Whether each entry that is found or damaged, and each key of the index, has a prefix whose number of entries is known.
    /// Otherwise entries may be missing that nothing else reports.
    var isCountKnown: Bool {
      let keys = [self.entries, self.damaged].joined().map(\.value.key) + self.index.values
      return !self.tallies.isEmpty && keys.allSatisfy { self.tallies[TallyTable.prefix(of: $0)] != nil }
    }

    /// Reads the rows of a page, by its pointers.
    private mutating func read(_ page: [UInt8], at start: Int, in pages: DatabasePages) {
      let kind = page[start]
      if kind == 5, start == 0 { return }
      guard [2, 10, 13].contains(kind) else { return self.carve(page, in: pages) }
      let count = Int(page[start + 3]) << 8 | Int(page[start + 4])
      let pointers = start + (kind == 2 ? 12 : 8)
      guard pointers + 2 * count <= page.count else { return self.carve(page, in: pages) }
      var isSound = true
      for pointer in stride(from: pointers, to: pointers + 2 * count, by: 2) {
        let place = (Int(page[pointer]) << 8 | Int(page[pointer + 1])) + (kind == 2 ? 4 : 0)
        // The first page has the schema, whose rows are others.
        let record = DatabaseRecord(page, at: place, isTable: kind == 13, in: pages)
        isSound = record.map { self.use($0, isCarved: false) } ?? false && isSound
      }
      if !isSound { self.carve(page, in: pages) }
    }

    /// Looks for sound rows at all places of a page.
    private mutating func carve(_ page: [UInt8], in pages: DatabasePages) {
      for place in 0..<page.count - 4 {
        for isTable in [true, false] {
          if let record = DatabaseRecord(page, at: place, isTable: isTable, in: pages) {
            _ = self.use(record, isCarved: true)
          }
        }
      }
    }

    /// Sorts a row by what it is.
    ///
    /// - Returns: Whether it is a sound row of a table of this library.
    private mutating func use(_ record: DatabaseRecord, isCarved: Bool) -> Bool {
      switch (record.columns.count, record.columns.first, record.columns.dropFirst().first) {
      case (4, .null?, .text(let key)?):
        guard case .bytes(let value) = record.columns[2], case .number(let checksum) = record.columns[3] else {
          return false
        }
        return self.useEntry(key, value, checksum, id: record.id, isCarved: isCarved)
      case (3, .text(let key)?, .bytes(let value)?):
        // An entry of an older schema, whose checksum may be of its value alone.
        guard case .number(let stored) = record.columns[2] else { return false }
        let checksum = stored == EntryTable.checksum(of: value) ? EntryTable.checksum(of: value, at: key) : stored
        return self.useEntry(key, value, checksum, id: -Int64(self.unsound.count) - 1, isCarved: isCarved)
      case (2, .text(let key)?, .number(let id)?):
        if !isCarved { self.index[id] = key }
        return true
      case (4, .text(let prefix)?, .number(let count)?):
        guard case .number(let digest) = record.columns[2], case .number(let checksum) = record.columns[3] else {
          return false
        }
        let tally = Tally(count: count, digest: digest)
        guard TallyTable.checksum(of: tally, prefix) == checksum else { return false }
        self.tallies[prefix] = tally
        return true
      default: return !isCarved
      }
    }

    private mutating func useEntry(
      _ key: String,
      _ value: [UInt8],
      _ checksum: Int64,
      id: Int64,
      isCarved: Bool
    ) -> Bool {
      guard EntryTable.checksum(of: value, at: key) == checksum else {
        if !isCarved { self.unsound[id] = (key, value, checksum) }
        return false
      }
      let entry = StorageEntry(key: key, value: value)
      if isCarved {
        self.carved[Array(key.utf8)] = entry
      } else {
        self.entries[Array(key.utf8)] = entry
        self.soundIDs[id] = Array(key.utf8)
      }
      return true
    }

    /// Whether the index has as many keys as there are entries.
    private var isIndexComplete: Bool { self.index.count == self.tallies.values.reduce(0) { $0 + $1.count } }

    /// Takes the rows that were found without pointers, if they were not removed.
    private mutating func useCarvedRows() {
      let keys = Set(self.index.values.map { Array($0.utf8) })
      let isIndexComplete = self.isIndexComplete
      for (key, entry) in self.carved where self.entries[key] == nil {
        if keys.contains(key) || !isIndexComplete { self.entries[key] = entry }
      }
    }

    /// Drops rows that an older version of a page has, if there are more than were stored.
    private mutating func dropRemovedRows() {
      guard self.isIndexComplete, self.entries.count > self.index.count else { return }
      let keys = Set(self.index.values.map { Array($0.utf8) })
      for (id, key) in self.soundIDs where self.index[id] == nil && !keys.contains(key) { self.entries[key] = nil }
    }

    /// Finds the keys of damaged rows, in the index or in what is left of them.
    private mutating func nameDamagedRows() {
      for (id, key) in self.index where self.unsound[id] == nil && self.soundIDs[id] == nil {
        let bytes = Array(key.utf8)
        if self.entries[bytes] == nil { self.damaged[bytes] = StorageEntry(key: key, value: EntryTable.marked([])) }
      }
      for (id, row) in self.unsound {
        let key = self.index[id] ?? row.key
        let bytes = Array(key.utf8)
        if self.entries[bytes] != nil { continue }
        if EntryTable.checksum(of: row.value, at: key) == row.checksum {
          // Only the key was damaged, and the index has it.
          self.entries[bytes] = StorageEntry(key: key, value: row.value)
          self.damaged[bytes] = nil
        } else {
          self.damaged[bytes] = StorageEntry(key: key, value: EntryTable.marked(row.value))
        }
      }
    }
  }
#endif

#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationPersistence

  /// The table of entries, in the newest schema.
  enum EntryTable {
    /// Reads the entries whose keys start with `prefix`.
    ///
    /// - Throws: A ``DatabaseDamage`` if there are not as many as were stored, or an error of SQLite.
    static func entries(withPrefix prefix: String, in database: Database) throws -> [StorageEntry] {
      // Keys compare byte by byte, and no other character has larger bytes than the last one.
      let statement = try database.cachedStatement(
        sql: "SELECT key, value, checksum FROM entry WHERE key >= ? AND key <= ? ORDER BY key"
      )
      let rows = try Row.fetchCursor(statement, arguments: self.bounds(ofPrefix: prefix))
      var entries: [StorageEntry] = []
      while let row = try rows.next() {
        // In a damaged row a value may have another type: a typed subscript would end the process, and an error would
        // keep the sound rows from being read. The checksum finds such a row.
        guard let key = String.fromDatabaseValue(row[0]), key.utf8.starts(with: prefix.utf8) else { continue }
        let bytes = (try? row.withUnsafeData(atIndex: 1) { data in data.map { [UInt8]($0) } ?? [] }) ?? []
        let isSound = Int64.fromDatabaseValue(row[2]) == self.checksum(of: bytes, at: key)
        entries.append(StorageEntry(key: key, value: isSound ? bytes : self.marked(bytes)))
      }
      try self.check(entries.count, ofPrefix: prefix, in: database)
      return entries
    }

    /// Reads the sizes of the entries whose keys start with `prefix`, without the pages on which long values continue.
    static func sizes(withPrefix prefix: String, in database: Database) throws -> [StorageEntrySize] {
      let statement = try database.cachedStatement(
        sql: "SELECT key, length(value) FROM entry WHERE key >= ? AND key <= ? ORDER BY key"
      )
      let rows = try Row.fetchCursor(statement, arguments: self.bounds(ofPrefix: prefix))
      var sizes: [StorageEntrySize] = []
      while let row = try rows.next() {
        guard let key = String.fromDatabaseValue(row[0]), key.utf8.starts(with: prefix.utf8) else { continue }
        sizes.append(StorageEntrySize(key: key, byteCount: Int.fromDatabaseValue(row[1]) ?? 0))
      }
      return sizes
    }

    private static func bounds(ofPrefix prefix: String) -> StatementArguments {
      [prefix, prefix + "\u{10FFFF}\u{10FFFF}"]
    }

    /// Compares the number of entries with what was stored, if a tally has exactly these entries.
    private static func check(_ count: Int, ofPrefix prefix: String, in database: Database) throws {
      guard prefix.isEmpty || TallyTable.prefix(of: prefix) == prefix else { return }
      let tallies = try TallyTable.tallies(in: database)
      let stored = prefix.isEmpty ? tallies.values.reduce(0) { $0 + $1.count } : tallies[prefix]?.count ?? 0
      guard stored == count else {
        throw DatabaseDamage(reason: "\(stored) entries of \"\(prefix)\" were stored, and \(count) are found")
      }
    }

    static func apply(_ batch: [StorageChange], in database: Database) throws {
      var changes = try EntryChanges(in: database)
      try changes.make(batch)
      try changes.finish()
    }

    /// Whether the second column of a row is a value with this checksum.
    static func isSound(_ row: Row, _ key: String, _ checksum: Int64) -> Bool {
      let found = try? row.withUnsafeData(atIndex: 1) { data in
        self.checksum(of: data ?? Data(), at: key)
      }
      return found == checksum
    }

    /// A checksum of a value and its key: it finds bytes that a torn or damaged page has changed. It is the version of
    /// the entry, too.
    static func checksum(of value: some Sequence<UInt8>, at key: String) -> Int64 {
      Int64(bitPattern: StorageVersion(of: value, at: key).digest)
    }

    /// The checksum of version 2, of a value alone.
    static func checksum(of value: [UInt8]) -> Int64 { Int64(bitPattern: StorageVersion.hash(value)) }

    /// Damaged bytes behind a zero byte, which no stored value begins with, so that they cannot be decoded.
    static func marked(_ bytes: [UInt8]) -> [UInt8] { [0] + bytes }
  }
#endif

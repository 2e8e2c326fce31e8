#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationPersistence

  /// The table of entries, in the newest schema.
  enum EntryTable {
    static func entries(withPrefix prefix: String, in database: Database) throws -> [StorageEntry] {
      // Keys compare byte by byte, and no other character has larger bytes than the last one.
      let statement = try database.cachedStatement(
        sql: "SELECT key, value, checksum FROM entry WHERE key >= ? AND key <= ? ORDER BY key"
      )
      let rows = try Row.fetchCursor(statement, arguments: [prefix, prefix + "\u{10FFFF}\u{10FFFF}"])
      var entries: [StorageEntry] = []
      while let row = try rows.next() {
        // In a damaged row a value may have another type: a typed subscript would end the process, and an error would
        // keep the sound rows from being read. The checksum finds such a row.
        guard let key = String.fromDatabaseValue(row[0]), key.utf8.starts(with: prefix.utf8) else { continue }
        let bytes = (try? row.withUnsafeData(atIndex: 1) { data in data.map { [UInt8]($0) } ?? [] }) ?? []
        let isSound = Int64.fromDatabaseValue(row[2]) == self.checksum(of: bytes, at: key)
        entries.append(StorageEntry(key: key, value: isSound ? bytes : self.marked(bytes)))
      }
      return entries
    }

    static func apply(_ batch: [StorageChange], in database: Database) throws {
      let put = try database.cachedStatement(
        sql: "INSERT INTO entry (key, value, checksum) VALUES (?, ?, ?) "
          + "ON CONFLICT (key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum"
      )
      let remove = try database.cachedStatement(sql: "DELETE FROM entry WHERE key = ?")
      for change in batch {
        switch change {
        case .put(let key, let value):
          try put.execute(arguments: [key, Data(value), self.checksum(of: value, at: key)])
        case .remove(let key): try remove.execute(arguments: [key])
        }
      }
    }

    /// A checksum of a value and its key: it finds bytes that a torn or damaged page has changed.
    static func checksum(of value: [UInt8], at key: String) -> Int64 {
      // No byte of a key is 0xFF, so the place where the value begins counts.
      Int64(bitPattern: self.hash(value, after: self.hash(CollectionOfOne(0xFF), after: self.hash(key.utf8))))
    }

    /// The checksum of version 2, of a value alone.
    static func checksum(of value: [UInt8]) -> Int64 { Int64(bitPattern: self.hash(value)) }

    /// FNV-1a in 64 bits, of bytes that follow others with the hash `start`.
    private static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
      bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Damaged bytes behind a zero byte, which no stored value begins with, so that they cannot be decoded.
    private static func marked(_ bytes: [UInt8]) -> [UInt8] { [0] + bytes }
  }
#endif

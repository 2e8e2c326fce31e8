#if SwiftOperationSQLite
  internal import GRDB
  internal import OperationPersistence

  /// The changes of entries that one transaction makes, for one batch or for several.
  struct EntryChanges {
    private let database: Database
    private let find: PreparedStatement
    private let insert: PreparedStatement
    private let update: PreparedStatement
    private let remove: PreparedStatement
    /// What the changes so far add to the numbers of entries, which change once, at the end.
    private var tallies: [String: Tally] = [:]
    /// How many entries were removed.
    private(set) var removedCount = 0

    init(in database: Database) throws {
      self.database = database
      self.find = try PreparedStatement("SELECT id, checksum FROM entry WHERE key = ?", in: database)
      self.insert = try PreparedStatement(
        "INSERT INTO entry (key, value, checksum) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
        in: database
      )
      self.update = try PreparedStatement("UPDATE entry SET value = ?, checksum = ? WHERE id = ?", in: database)
      self.remove = try PreparedStatement("DELETE FROM entry WHERE key = ?", in: database)
    }

    /// Makes the changes of a batch.
    ///
    /// - Throws: A ``DatabaseDamage`` if an entry does not have its checksum, or an error of SQLite.
    mutating func make(_ batch: [StorageChange]) throws {
      for change in batch {
        let prefix = TallyTable.prefix(of: change.key)
        switch change {
        case .put(var key, let value):
          let checksum = EntryTable.checksum(of: value, at: key)
          let old = try self.put(&key, value, checksum)
          if let old { self.tallies[prefix, default: Tally()].remove(old) }
          self.tallies[prefix, default: Tally()].add(checksum)
        case .remove(var key):
          guard let old = try self.remove(&key) else { continue }
          self.tallies[prefix, default: Tally()].remove(old)
          self.removedCount += 1
        }
      }
    }

    /// Makes the changes of a batch if its conditions hold, or none of them.
    mutating func make(_ batch: [StorageChange], if conditions: [StorageCondition]) throws -> StorageOutcome {
      for condition in conditions where try !self.holds(condition) { return .refused(condition) }
      try self.make(batch)
      return .made
    }

    private func holds(_ condition: StorageCondition) throws -> Bool {
      var key = condition.key
      guard let checksum = try self.entry(with: &key)?.checksum else { return condition.version == nil }
      guard let version = condition.version else { return false }
      // The checksum is the version, so the value need not be read.
      if UInt64(bitPattern: checksum) == version.digest { return true }
      // Who has read a damaged entry knows it by its damaged bytes.
      let statement = try self.database.cachedStatement(sql: "SELECT key, value FROM entry WHERE key = ?")
      guard let row = try Row.fetchOne(statement, arguments: [key]), !EntryTable.isSound(row, key, checksum) else {
        return false
      }
      let bytes = (try? row.withUnsafeData(atIndex: 1) { data in data.map { [UInt8]($0) } ?? [] }) ?? []
      return StorageVersion(of: EntryTable.marked(bytes), at: key) == version
    }

    /// Changes the numbers of entries, as the last change of the transaction, and returns them.
    @discardableResult
    func finish() throws -> [TallyTable.Change] { try TallyTable.apply(self.tallies, in: self.database) }

    /// Puts an entry, and returns the checksum of the one that it replaces.
    private func put(_ key: inout String, _ value: [UInt8], _ checksum: Int64) throws -> Int64? {
      try value.withUnsafeBufferPointer { value in
        // First, because each call of a journal is a new entry: looking for an old one would take half as long again.
        try key.withUTF8 { try self.insert.run(.text($0), .bytes(value), .number(checksum)) }
        if self.database.changesCount > 0 { return nil }
        guard let old = try self.entry(with: &key) else {
          throw DatabaseDamage(reason: "an entry is in the index of the keys alone")
        }
        try self.update.run(.bytes(value), .number(checksum), .number(old.id))
        return old.checksum
      }
    }

    /// Removes an entry, and returns its checksum; nil if there is none.
    private func remove(_ key: inout String) throws -> Int64? {
      guard let old = try self.entry(with: &key) else { return nil }
      try key.withUTF8 { try self.remove.run(.text($0)) }
      return old.checksum
    }

    private func entry(with key: inout String) throws -> (id: Int64, checksum: Int64)? {
      let row = try key.withUTF8 { key in try self.find.firstRow(.text(key)) { ($0.number(0), $0.number(1)) } }
      guard let row else { return nil }
      guard let id = row.0, let checksum = row.1 else {
        throw DatabaseDamage(reason: "an entry does not have its checksum")
      }
      return (id, checksum)
    }
  }
#endif

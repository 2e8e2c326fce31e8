#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationPersistence

  @testable import OperationSQLite

  /// A damage of a database that a program has left, by a seed.
  enum YearsDamage: CustomStringConvertible {
    /// Bits, a part or a page of one file.
    case bytes([Damage])
    /// The log ends early.
    case cutLog(Int)
    /// Files beside the database are gone.
    case missing([String])
    /// A row of the table is another one, and its checksum stays.
    case row(Row)
    /// Entries have other bytes, and the checksums of those.
    case entry(Entry)

    enum Row: CaseIterable { case bytes, cut, checksum, key, gone, swappedValues, swappedRows, copied }

    enum Entry: CaseIterable { case bytes, cut, empty, arguments, format, version, members }

    init(of files: [String: Data], isSealed: Bool, using random: inout SeededGenerator) {
      let names = files.keys.filter { !$0.hasSuffix("-shm") && files[$0]?.isEmpty == false }.sorted()
      let log = files["state.sqlite-wal"].map(\.count) ?? 0
      switch Int.random(in: 0..<12, using: &random) {
      case 0...4:
        let name = names.randomElement(using: &random) ?? "state.sqlite"
        let count = Int.random(in: 1...3, using: &random)
        self = .bytes((0..<count).map { _ in Damage(of: files.filter { $0.key == name }, using: &random) })
      case 5 where log > 0: self = .cutLog(.random(in: 0..<log, using: &random))
      case 6 where log > 0: self = .missing(["state.sqlite-wal"])
      case 7 where log > 0: self = .missing(["state.sqlite-wal", "state.sqlite-shm"])
      case 8 where log > 0: self = .missing(["state.sqlite-shm"])
      case 9, 10:
        let entry = Entry.allCases.randomElement(using: &random) ?? .bytes
        // The members of a sealed entry cannot be changed.
        self = .entry(isSealed && ![.bytes, .cut, .empty].contains(entry) ? .bytes : entry)
      default: self = .row(Row.allCases.randomElement(using: &random) ?? .bytes)
      }
    }

    var description: String {
      switch self {
      case .bytes(let damages): "\(damages)"
      case .cutLog(let count): "a log of \(count) bytes"
      case .missing(let names): "without \(names)"
      case .row(let change): "a row: \(change)"
      case .entry(let change): "an entry: \(change)"
      }
    }

    /// Whether the log is another one.
    var hitsLog: Bool {
      switch self {
      case .bytes(let damages): damages.contains { $0.file == "state.sqlite-wal" }
      case .cutLog: true
      case .missing(let names): names.contains("state.sqlite-wal")
      case .row, .entry: false
      }
    }

    /// Whether the index of the log is missing.
    var hitsIndex: Bool { if case .missing(let names) = self { names.contains("state.sqlite-shm") } else { false } }

    /// Whether the file is opened as by another program, which reports nothing.
    var opensFile: Bool { if case .row = self { true } else { false } }

    /// The kind, for what a test has seen.
    var name: String {
      switch self {
      case .bytes: "bytes"
      case .cutLog: "cutLog"
      case .missing(let names): "missing \(names.count)"
      case .row(let change): "row \(change)"
      case .entry(let change): "entry \(change)"
      }
    }

    /// Damages the database in a folder.
    func apply(to folder: Folder, using random: inout SeededGenerator) async throws {
      switch self {
      case .bytes(let damages):
        for damage in damages { try folder.write(damage.applied(to: folder.read(damage.file)), to: damage.file) }
      case .cutLog(let count): try folder.write(folder.read("state.sqlite-wal").prefix(count), to: "state.sqlite-wal")
      case .missing(let names):
        for name in names { try? FileManager.default.removeItem(atPath: folder.file(name)) }
      case .row(let change):
        do {
          try await self.change(change, in: folder, using: &random)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
          // Another damage has left no rows that can be changed.
        }
      case .entry(let change): try await self.change(change, in: folder, using: &random)
      }
    }

    private func change(_ change: Row, in folder: Folder, using random: inout SeededGenerator) async throws {
      let queue = try DatabaseQueue(path: folder.file())
      defer { try? queue.close() }
      let ids = try await queue.read { try Int64.fetchAll($0, sql: "SELECT id FROM entry ORDER BY id") }
      guard let id = ids.randomElement(using: &random), let other = ids.randomElement(using: &random) else { return }
      let bytes = Data(Self.randomBytes(using: &random))
      try await queue.write { database in
        func set(_ sql: String, _ arguments: StatementArguments) throws {
          try database.execute(sql: sql, arguments: arguments)
        }
        switch change {
        case .bytes: try set("UPDATE entry SET value = ? WHERE id = ?", [bytes, id])
        case .cut: try set("UPDATE entry SET value = substr(value, 1, length(value) / 2) WHERE id = ?", [id])
        case .checksum: try set("UPDATE entry SET checksum = checksum + 1 WHERE id = ?", [id])
        case .key: try set("UPDATE entry SET key = key || 'x' WHERE id = ?", [id])
        case .gone: try set("DELETE FROM entry WHERE id = ?", [id])
        case .swappedValues:
          try set(
            """
            UPDATE entry SET value = (SELECT value FROM entry AS e WHERE e.id = ? + ? - entry.id) WHERE id IN (?, ?)
            """,
            [id, other, id, other]
          )
        case .swappedRows:
          try set("UPDATE entry SET id = -1 WHERE id = ?", [id])
          if id != other { try set("UPDATE entry SET id = ? WHERE id = ?", [id, other]) }
          try set("UPDATE entry SET id = ? WHERE id = -1", [other])
        case .copied:
          try set(
            """
            INSERT INTO entry (key, value, checksum) SELECT key || 'x', value, checksum FROM entry WHERE id = ?
            """,
            [id]
          )
        }
      }
    }

    private func change(_ change: Entry, in folder: Folder, using random: inout SeededGenerator) async throws {
      let storage = try SQLiteStorage(path: folder.file())
      let entries = try await storage.entries(withPrefix: "").filter { !$0.key.hasPrefix("sealed-key/") }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        guard let entry = entries.randomElement(using: &random) else { continue }
        let value: [UInt8]
        switch change {
        case .bytes: value = Self.randomBytes(using: &random)
        case .cut: value = Array(entry.value.prefix(entry.value.count / 2))
        case .empty: value = []
        case .arguments, .format, .version, .members: value = self.changed(entry, change)
        }
        try await storage.apply([.put(key: entry.key, value: value)])
      }
      await storage.close()
    }

    private static func randomBytes(using random: inout SeededGenerator) -> [UInt8] {
      (0..<Int.random(in: 1..<300, using: &random)).map { _ in .random(in: .min ... .max, using: &random) }
    }

    /// An entry with a member that another version of the library or of the program may have written.
    private func changed(_ entry: StorageEntry, _ change: Entry) -> [UInt8] {
      guard entry.key.hasPrefix("journal/") else { return Array("value7 9 0\n[]".utf8) }
      guard var members = try? JSONSerialization.jsonObject(with: Data(entry.value)) as? [String: Any] else {
        return entry.value
      }
      switch change {
      case .arguments: members["arguments"] = "{}"
      case .format: members["format"] = 2
      case .version: members["version"] = 9
      default: members["later"] = ["a": [1, 2.5, "text", true]]
      }
      return (try? JSONSerialization.data(withJSONObject: members)).map(Array.init) ?? entry.value
    }
  }
#endif

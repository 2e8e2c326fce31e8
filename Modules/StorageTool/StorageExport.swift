#if SwiftOperationSQLite
  internal import OperationCore
  internal import OperationFoundation
  internal import OperationPersistence
  internal import OperationSQLite

  /// The entries of a storage as JSON, one in each line.
  struct StorageExport {
    let showsValues: Bool

    private struct Line: Encodable {
      let key: String
      let kind: String
      let size: Int
      var name: String?
      var path: String?
      var version: Int?
      var date: String?
      var id: String?
      var status: String?
      var attempts: Int?
      var schedule: String?
      var dueAt: String?
      var interval: Double?
      var isDamaged: Bool?
      /// The value or the arguments: text, or Base64.
      var value: String?
      var valueInBase64: String?
    }

    func text(of inspection: DatabaseInspection) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      var lines = inspection.entries.map { self.line(StoredEntryFacts($0), isDamaged: false) }
      lines += inspection.damaged.map { self.line(StoredEntryFacts($0), isDamaged: true) }
      return try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    private func line(_ facts: StoredEntryFacts, isDamaged: Bool) -> Line {
      var line = Line(key: facts.key, kind: facts.kind.rawValue, size: facts.size)
      line.name = facts.name
      line.path = facts.path
      line.version = facts.version
      line.date = facts.date?.formatted(.iso8601)
      line.id = facts.id
      line.status = facts.status?.rawValue
      line.attempts = facts.attempts
      line.schedule = facts.schedule
      line.dueAt = facts.dueAt?.formatted(.iso8601)
      line.interval = facts.interval?.seconds
      if isDamaged { line.isDamaged = true }
      guard self.showsValues else { return line }
      line.value = String(validating: facts.content, as: UTF8.self)
      if line.value == nil { line.valueInBase64 = Data(facts.content).base64EncodedString() }
      return line
    }
  }
#endif

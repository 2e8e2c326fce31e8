#if SwiftOperationSQLite
  internal import OperationCore
  internal import OperationFoundation
  internal import OperationPersistence
  internal import OperationSQLite

  /// What a storage has, as tables.
  struct StorageListing {
    private let inspection: DatabaseInspection
    private let path: String
    private let now: Date
    private let facts: [StoredEntryFacts]

    init(_ inspection: DatabaseInspection, path: String, now: Date) {
      self.inspection = inspection
      self.path = path
      self.now = now
      self.facts = inspection.entries.map { StoredEntryFacts($0) }
    }

    /// The names with their counts, sizes and ages, and the calls.
    var names: String {
      let calls = self.facts.filter { $0.kind == .call }
      var text = self.head + self.table("values", self.facts.filter { $0.kind == .value })
      text += self.table("calls", calls)
      text += self.table("others", self.facts.filter { ![.value, .call, .schedule].contains($0.kind) })
      text += self.schedules
      if calls.isEmpty { return text }
      let rows = calls.map { call in
        [call.name ?? "?", self.status(of: call), call.path ?? "", self.age(call.date), call.id ?? call.key]
      }
      return text + "\n" + TextTable(["call", "status", "scope", "age", "key"], rows).text
    }

    /// What is scheduled, with the times of the next calls.
    private var schedules: String {
      let schedules = self.facts.filter { $0.kind == .schedule }
      if schedules.isEmpty { return "" }
      let rows = schedules.map { schedule in
        [
          schedule.schedule ?? "?", schedule.name ?? "?", schedule.interval.map { $0.roundedText } ?? "once",
          self.rest(until: schedule.dueAt), schedule.id ?? schedule.key,
        ]
      }
      return "\n" + TextTable(["schedule", "call", "every", "next", "key"], rows).text
    }

    /// How long it takes until a date.
    private func rest(until date: Date?) -> String {
      guard let date else { return "" }
      let seconds = date.timeIntervalSince(self.now)
      // The date is damaged.
      guard abs(seconds) < 1e10 else { return "?" }
      let text = Duration.seconds(abs(seconds).rounded()).roundedText
      return seconds < 0 ? "\(text) ago" : "in \(text)"
    }

    /// A line for each entry.
    ///
    /// - Parameter showsValues: Whether its value or its arguments follow, indented.
    /// - Returns: The lines.
    func entries(showingValues showsValues: Bool) -> String {
      let columns = ["kind", "name", "path", "version", "size", "age", "status", "key"]
      let rows = self.facts.map { entry in
        [
          entry.kind.rawValue, entry.name ?? "", entry.path ?? "", entry.version.map { "\($0)" } ?? "",
          TextTable.size(entry.size), self.age(entry.date),
          self.note(on: entry), entry.key,
        ]
      }
      var lines = TextTable(columns, rows).lines
      guard showsValues else { return self.head + lines.map { $0 + "\n" }.joined() }
      // The first line has the titles.
      let title = lines.removeFirst()
      let shown = zip(lines, self.facts).map { line, entry in "\(line)\n    \(Self.shown(entry.content))\n" }
      return self.head + "\(title)\n" + shown.joined()
    }

    private func note(on entry: StoredEntryFacts) -> String {
      switch entry.kind {
      case .call: self.status(of: entry)
      case .schedule where entry.isReadable: "next \(self.rest(until: entry.dueAt))"
      default: entry.isReadable ? "" : "unreadable"
      }
    }

    /// What is wrong with a file, line by line.
    static func damage(of inspection: DatabaseInspection) -> [String] {
      var lines = inspection.damage.map { ["damaged: \($0)"] } ?? []
      lines += inspection.damaged.map { "the bytes of \($0.key) are damaged" }
      lines += inspection.missing.sorted { $0.key < $1.key }.map { "\($0.value) entries of \"\($0.key)\" are missing" }
      return lines
    }

    private var head: String {
      let state = self.inspection.damage == nil ? "sound" : "damaged"
      let size = TextTable.size(self.inspection.size)
      let first = "\(self.path): SQLite storage, schema \(self.inspection.schema), \(size), \(state)"
      return ([first] + Self.damage(of: self.inspection)).map { $0 + "\n" }.joined() + "\n"
    }

    private func table(_ title: String, _ entries: [StoredEntryFacts]) -> String {
      if entries.isEmpty { return "" }
      let groups = Dictionary(grouping: entries) { entry in
        entry.name ?? (entry.isReadable ? "(\(entry.kind.rawValue))" : "(unreadable)")
      }
      let rows = groups.sorted { $0.key < $1.key }.map { name, entries in
        let dates = entries.compactMap(\.date)
        let size = entries.reduce(0) { $0 + $1.size }
        return [name, "\(entries.count)", TextTable.size(size), self.age(dates.min()), self.age(dates.max())]
      }
      return TextTable([title, "count", "size", "oldest", "newest"], rows).text
    }

    private func status(of call: StoredEntryFacts) -> String {
      let status =
        switch call.status {
        case .deadLetter: "dead letter"
        case let status?: status.rawValue
        case nil: ""
        }
      guard let attempts = call.attempts, attempts > 0 else { return status }
      return "\(status), \(attempts) \(attempts == 1 ? "attempt" : "attempts")"
    }

    private func age(_ date: Date?) -> String {
      guard let date else { return "" }
      let seconds = self.now.timeIntervalSince(date)
      // A clock was set back, or the date is damaged.
      guard seconds >= 0, seconds < 1e10 else { return "?" }
      for (unit, name) in [(86_400.0, "d"), (3_600, "h"), (60, "min")] where seconds >= unit {
        return "\(Int(seconds / unit)) \(name)"
      }
      return "\(Int(seconds)) s"
    }

    /// Bytes as text, in one line, or in Base64.
    private static func shown(_ bytes: [UInt8]) -> String {
      let text = String(validating: bytes, as: UTF8.self).map(TextTable.printable)
      return text ?? "base64 " + Data(bytes).base64EncodedString()
    }
  }
#endif

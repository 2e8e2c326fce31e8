#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationCore
  import OperationPersistence

  extension YearsRun {
    /// What the reports say about the files.
    private struct Reports {
      let isDamaged: Bool
      /// Whether changes or entries are missing whose number nobody knows.
      let isOpen: Bool
      /// Whether entries may be older, and removed ones may be there again.
      let isOlder: Bool
      /// How many calls are missing.
      let missingCalls: Int

      init(_ state: State) {
        let texts = state.warnings.filter { $0.code == .storageDamaged }.map(\.message)
        self.isDamaged = !texts.isEmpty
        let isOpen = texts.contains { $0.contains("newest changes are missing") || $0.contains("more may be missing") }
        self.isOpen = isOpen || state.mayBeOlder
        self.isOlder = self.isOpen || texts.contains { $0.contains("entries may be older") }
        self.missingCalls = texts.reduce(0) { count, text in
          let matches = text.matches(of: /(\d+) more entries, with the prefix "(?:sealed-)?journal\/"/)
          return count + matches.reduce(0) { $0 + (Int($1.1) ?? 0) }
        }
      }
    }

    /// Compares what has become of the calls and the values with what was there before the damage.
    func check(_ program: YearsProgram) {
      let state = self.state.withLock { $0 }
      let reports = Reports(state)
      if reports.isDamaged { self.note("damaged") }
      if reports.isOpen { self.note("newest changes missing") }
      let entries = program.journal.entries
      for entry in entries { self.note(entry.status.rawValue) }
      self.checkLosses(entries, state, reports)
      self.checkReports(entries, state)
      self.checkOrder(state)
      // What the log would have removed may be there again.
      if !reports.isOlder {
        let twice = self.server.done.filter { $0.value.count > 1 }
        if !twice.isEmpty { self.fail("done twice: \(twice)") }
        for repetition in self.server.repetitions { self.fail(repetition) }
      }
      for note in YearsProgram.notes { self.checkText(of: note, program, state, reports) }
    }

    private func checkLosses(_ entries: [JournalEntry], _ state: State, _ reports: Reports) {
      let done = self.server.done
      let lost = state.calls.filter { call in
        let tokens = YearsTokens(call.arguments)?.tokens ?? []
        let isDone = !tokens.isEmpty && tokens.allSatisfy { done[$0] != nil }
        return !isDone && !state.removed.contains(call.id) && !entries.contains { $0.id.contains(call.id) }
      }
      // Entries that do not open, and damaged keys, do not say which call they are.
      let unknown = entries.filter { entry in !state.calls.contains { entry.id.contains($0.id) } }
      guard lost.count > unknown.count else { return }
      self.note("lost with a report")
      if reports.isOpen || lost.count - unknown.count <= reports.missingCalls { return }
      self.fail("lost silently: \(lost)")
    }

    /// What is kept aside was reported, or says why: what a timer does, it reports to the process.
    private func checkReports(_ entries: [JournalEntry], _ state: State) {
      for entry in entries {
        let isReported = state.warnings.contains { warning in
          let codes: [OperationWarning.Code] = [.journalEntryUnreadable, .journalCallExpired, .journalDeadLetter]
          return codes.contains(warning.code) && warning.message.contains(entry.id)
        }
        // A start before this one may have set it aside.
        let isKnown = state.calls.contains { $0.id == entry.id && $0.status == entry.status }
        let isEarlier = isKnown || state.seen.contains("downgraded")
        let saysWhy = entry.status != .unreadable && (entry.lastFailure != nil || isEarlier)
        if !isReported, !saysWhy { self.fail("not reported: \(entry)") }
      }
    }

    /// The calls of a scope were sent in their order.
    private func checkOrder(_ state: State) {
      for scope in ["notes", "settings"] {
        let pending = state.calls.filter { $0.scope == scope && [.waiting, .blocked, .running].contains($0.status) }
        let order = Dictionary(uniqueKeysWithValues: pending.enumerated().map { ($1.id, $0) })
        var places: [Int] = []
        for request in self.server.requests where request.start > 1 {
          guard let place = order[String(request.key.prefix { $0 != "~" })], !places.contains(place) else { continue }
          places.append(place)
        }
        if places != places.sorted() { self.fail("sent in another order in \(scope): \(places)") }
      }
    }

    private func checkText(of note: Int, _ program: YearsProgram, _ state: State, _ reports: Reports) {
      let (text, texts) = (program.text(of: note), state.texts[note] ?? [])
      if text == texts.last { return }
      let codes: Set<OperationWarning.Code> = [
        .storedValueDropped, .storedVersionUnknown, .storageDamaged, .sealedEntryUnopened,
      ]
      let isReported = self.state.withLock { $0.warnings.contains { codes.contains($0.code) } }
      if !isReported, !state.mayBeOlder {
        self.fail("note \(note) shows \(text ?? "nothing") in place of \(texts), without a report")
      }
      guard let text else { return self.note("value dropped") }
      self.note("older value")
      // What an earlier version has stored under its own name is still there.
      if !texts.contains(text) { self.fail("note \(note) shows \(text), which is none of \(texts)") }
    }
  }
#endif

public import OperationCore

extension Journaled: OperationExplaining {
  /// Lists the calls of the mutation that the journal has, without their arguments.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    guard let journal = self.journal ?? store.context.operationClient?.journal else { return }
    let entries = journal.entries.filter { $0.name == self.name }
    let calls = entries.filter { $0.status != .scheduled }
    var facts = ["\(self.name): \(ShownText.count(calls.count, "call")) stored"]
    let counts = Dictionary(grouping: entries, by: \.status).mapValues(\.count)
    for (status, text) in Self.texts { if let count = counts[status] { facts.append("\(count) \(text)") } }
    if let wait = journal.leaseWait(ofCallsNamed: self.name) { facts.append(wait) }
    let schedules = journal.schedules.filter { $0.mutation == self.name }
    facts += schedules.map { "scheduled as \($0)" }
    inspection.sections.append(StoreInspection.Section(title: "Journal", facts: facts))
  }

  private static var texts: [(JournalEntry.Status, String)] {
    [
      (.running, "being made"), (.waiting, "waiting"), (.blocked, "blocked by an earlier one that has failed"),
      (.deadLetter, "set aside as a dead letter"), (.conflicted, "in conflict, for the user to decide"),
    ]
  }
}

extension MutationJournal {
  /// For how long calls that are to be made again wait for the leases of other processes, as text; nil if none does.
  fileprivate func leaseWait(ofCallsNamed name: String) -> String? {
    let now = self.deadlines.elapsed
    let ends = self.state.withLock { state in
      if state.leases.others.isEmpty { return [Duration]() }
      return state.items.values.compactMap { item -> Duration? in
        guard item.isDue, item.activity.isNone, item.record?.name == name else { return nil }
        return state.leaseEnd(of: item)
      }
    }
    guard let last = ends.max() else { return nil }
    let time = max(last - now, .zero).roundedText
    let count = ShownText.count(ends.count, "call")
    return
      "\(count) to be made again: waiting for the lease of another process, for at most \(time) unless it renews it"
  }
}

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

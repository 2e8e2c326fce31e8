internal import OperationCore

extension MutationJournal {
  /// Counts a further attempt of a call in the storage.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - change: The change of the number of attempts; -1 for a call that waits.
  /// - Throws: The error of the encoding or of the storage.
  nonisolated(nonsending) func countAttempt(of ticket: JournalTicket, _ change: Int = 1) async throws {
    guard let (key, record) = self.edit(ticket.place, { $0.attempts += change }) else { return }
    try await self.storage.apply([.put(key: key, value: StorageCoding.encode(record))])
    self.noteChange()
  }

  func edit(
    _ place: JournalState.Place,
    _ change: (inout JournalRecord) -> Void
  ) -> (key: String, record: JournalRecord)? {
    self.state.withLock { state in
      let edited = state.edit(place) { item -> (key: String, record: JournalRecord)? in
        guard var record = item.record else { return nil }
        change(&record)
        item.record = record
        return (item.storageKey, record)
      }
      return edited.flatMap(\.self)
    }
  }
}

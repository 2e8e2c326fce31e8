internal import OperationCore

/// How a call has ended.
enum JournalEnd: Sendable {
  /// It has succeeded, or has failed for good.
  case done(failure: (any Error)?)
  /// It was cancelled, or got no turn. It is made again at its next turn.
  case left
  /// It has failed, and is made again after `resume()`.
  case held(any Error)
}

extension MutationJournal {
  /// Ends a call, in the storage first, and passes its turn on.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - end: How it has ended.
  ///   - context: The context of the run, whose observers are notified; nil for the observers of the client.
  nonisolated(nonsending) func end(
    _ ticket: JournalTicket,
    _ end: JournalEnd,
    in context: OperationContext? = nil
  ) async {
    switch end {
    case .done(let failure):
      let attempts = self.attempts(of: ticket)
      let key = self.state.withLock { $0.items[ticket.place]?.storageKey }
      // Before the turn is passed on: a later call of the scope must not end while this one is still stored.
      if let key { await self.removeEntry(key) }
      self.leave(ticket.place)
      self.send(in: context) {
        failure.map { ticket.notice(of: $0, after: attempts, isFinal: true) } ?? ticket.notice(.journalSent)
      }
    case .left:
      self.putBack(ticket, isHeld: false, failure: nil)
    case .held(let error):
      let attempts = self.attempts(of: ticket)
      self.send(in: context) { ticket.notice(of: error, after: attempts, isFinal: false) }
      if attempts >= self.attemptsBeforeSetAside {
        await self.setAside(ticket, because: "attempt \(attempts) has failed: \(error)", in: context)
      } else {
        self.putBack(ticket, isHeld: true, failure: "\(error)")
      }
    }
  }

  /// How many times a call was begun; 0 if it was removed.
  private func attempts(of ticket: JournalTicket) -> Int {
    self.state.withLock { $0.items[ticket.place]?.record?.attempts ?? 0 }
  }

  private func putBack(_ ticket: JournalTicket, isHeld: Bool, failure: String?) {
    let next = self.state.withLock { state in
      state.items[ticket.place]?.activity = .none
      state.items[ticket.place]?.endedEarly = nil
      state.items[ticket.place]?.isHeld = isHeld
      if let failure { state.items[ticket.place]?.lastFailure = failure }
      return state.advance(ticket.lane)
    }
    self.perform(next)
    self.noteChange()
  }

  /// Puts a call aside: it is kept, is not made again, and does not block other calls.
  nonisolated(nonsending) func setAside(
    _ ticket: JournalTicket,
    because reason: String,
    in context: OperationContext? = nil
  ) async {
    let place = ticket.place
    guard let (key, record) = self.edit(place, { $0.isSetAside = true }) else { return }
    do {
      try await self.storage.apply([.put(key: key, value: StorageCoding.encode(record))])
    } catch {
      OperationWarning.report(storageFailedTo: "put the journal entry \(key) aside", error)
    }
    let next = self.state.withLock { state in
      state.items[place]?.activity = .none
      state.items[place]?.lastFailure = reason
      state.leave(place)
      return state.advance(record.scope)
    }
    OperationWarning(
      code: .journalEntrySetAside,
      severity: .failure,
      message: """
        The call of "\(record.name)" with the key \(record.id) is put aside: \(reason). It is kept, and not made again \
        before `retry(_:)`; `remove(_:)` removes it.
        """
    ).report()
    self.perform(next)
    self.noteChange()
    self.send(in: context) { ticket.notice(.journalSetAside, attempts: record.attempts) }
  }
}

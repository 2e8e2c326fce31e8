internal import OperationCore
internal import OperationMutation

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
    let place = ticket.place
    if self.state.withLock({ $0.items[place]?.isTakenOver ?? false }) {
      self.change { $0.remove(place) }
      ticket.updates?.end()
      return
    }
    switch end {
    case .done(let failure):
      let attempts = self.attempts(of: ticket)
      let write = self.change { $0.end(place) }
      await self.finish(ticket, write)
      self.send(in: context) {
        failure.map { ticket.notice(of: $0, after: attempts, isFinal: true) } ?? ticket.notice(.journalSent)
      }
    case .left:
      await self.record(ticket) { $0.endBodies(of: place) }
      self.putBack(ticket, isHeld: false, failure: nil)
    case .held(let error):
      let attempts = self.attempts(of: ticket)
      self.send(in: context) { ticket.notice(of: error, after: attempts, isFinal: false) }
      let (failures, failuresInARow) = self.change { state -> (Int, Int) in
        state.endBodies(of: place)
        state.items[place]?.failuresInARow += 1
        // A connection that is away, or a rejection on this side, says nothing about the call.
        if !error.isPassing { state.edit(place) { $0.record?.failureCount += 1 } }
        return (state.items[place]?.record?.failureCount ?? 0, state.items[place]?.failuresInARow ?? 1)
      }
      if failures >= self.attemptsBeforeDeadLetter {
        await self.makeDeadLetter(
          ticket,
          because: "it has failed \(failures) times, at last with \(error)",
          in: context
        )
      } else {
        await self.record(ticket) { _ in }
        let backoff = self.backoff(afterFailures: failuresInARow, error)
        self.putBack(ticket, isHeld: true, failure: "\(error)", retryAfter: backoff)
      }
    }
  }

  /// How many times a body has begun; 0 if the call was removed.
  private func attempts(of ticket: JournalTicket) -> Int {
    self.state.withLock { $0.items[ticket.place]?.record?.attempts ?? 0 }
  }

  /// Waits for the removal of a call that has ended, and removes it from memory. If the removal fails, the next change
  /// that is stored repeats it.
  private nonisolated(nonsending) func finish(_ ticket: JournalTicket, _ write: JournalWrite?) async {
    var failure: (any Error)?
    do { try await write?.value() } catch { failure = error }
    self.change { [isFailed = failure != nil] state in
      if isFailed, let key = state.items[ticket.place]?.storageKey { state.failedRemovals.insert(key) }
      // Before the turn is passed on: a later call of the scope must not end while this one is still stored.
      state.remove(ticket.place)
    }
    ticket.updates?.end()
    if let failure {
      OperationWarning.report(
        storageFailedTo: "remove the journal entry \(ticket.id). After a restart it is sent again",
        failure
      )
    }
  }

  /// Changes a call, and waits until what was decided for it is stored.
  private nonisolated(nonsending) func record(
    _ ticket: JournalTicket,
    _ change: @Sendable (inout JournalState) -> Void
  ) async {
    let write = self.change { state in
      change(&state)
      return state.items[ticket.place]?.isGone == false ? state.write(ticket.place) : nil
    }
    do {
      try await write?.value()
    } catch {
      OperationWarning.report(storageFailedTo: "record the end of the journal entry \(ticket.id)", error)
    }
  }

  /// Ends the turn of a call that is made again.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - isHeld: Whether it has failed, or cannot be made now.
  ///   - failure: The failure as text; nil if there is none.
  ///   - delay: How long it waits before the journal makes it again by itself; nil if it waits for another event.
  func putBack(_ ticket: JournalTicket, isHeld: Bool, failure: String?, retryAfter delay: Duration? = nil) {
    let time = delay.map { self.deadlines.elapsed + $0 }
    let isLeft = self.change { state -> Bool in
      let wasCancelled = state.items[ticket.place]?.isReplayCancelled ?? false
      let item: Void? = state.edit(ticket.place) { item in
        item.activity = .none
        item.replay = nil
        item.endedEarly = nil
        item.isHeld = isHeld
        if let failure { item.lastFailure = failure }
      }
      // Its entry was removed meanwhile.
      if item == nil, let updates = ticket.updates { state.actions.ended.append(updates) }
      state.endDue(ticket.place)
      state.setRetry(of: ticket.place, at: time)
      state.advance(ticket.lane)
      return item != nil && !isHeld && !wasCancelled
    }
    // Its caller was cancelled. The call is still to be made.
    if isLeft { self.resumeByItself(.call(ticket.place)) }
  }

  /// Makes a call a dead letter: it is kept, is not made again, and does not block other calls.
  nonisolated(nonsending) func makeDeadLetter(
    _ ticket: JournalTicket,
    because reason: String,
    in context: OperationContext? = nil
  ) async {
    let place = ticket.place
    let record = self.change { state -> JournalRecord? in
      guard state.items[place]?.isGone == false else { return nil }
      state.edit(place) { $0.record?.isDeadLetter = true }
      return state.items[place]?.record
    }
    guard let record else { return self.putBack(ticket, isHeld: false, failure: nil) }
    do {
      try await self.write(place)
    } catch {
      OperationWarning.report(storageFailedTo: "make the journal entry \(ticket.id) a dead letter", error)
    }
    self.change { state in
      state.leave(place)
      state.edit(place) { item in
        item.activity = .none
        item.replay = nil
        item.lastFailure = reason
      }
      state.endDue(place)
      state.dropUpdates(of: place)
      state.advance(record.scope)
    }
    OperationWarning(
      code: .journalDeadLetter,
      severity: .failure,
      message: """
        The call of "\(record.name)" with the key \(record.id) becomes a dead letter: \(reason). It is kept, and not made \
        before `retry(_:)`; `remove(_:)` removes it.
        """
    ).report()
    self.send(in: context) { ticket.notice(.journalDeadLetter, attempts: record.attempts) }
  }
}

extension JournalState {
  /// Decides that a call has ended. Returns the write of its removal; nil if it was removed before.
  fileprivate mutating func end(_ place: Place) -> JournalWrite? {
    guard self.items[place] != nil else { return nil }
    self.items[place]?.hasEnded = true
    return self.write(place)
  }

  /// Decides that the updates of a call are no longer shown. Those of its next run are kept anew.
  mutating func dropUpdates(of place: Place) {
    guard let updates = self.items[place]?.updates else { return }
    self.items[place]?.updates = KeptUpdates()
    self.actions.ended.append(updates)
  }
}

internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// The end of a call.
enum JournalEnd: Sendable {
  /// It has succeeded, or has failed for good.
  case done(failure: (any Error)?)
  /// It was cancelled, or got no turn. It is made again at its next turn.
  case left
  /// It has failed, and is made again after `resume()`.
  case held(any Error)
  /// It is in conflict, and waits for the user.
  case conflicted(StoredConflict)

  var isDone: Bool { if case .done = self { true } else { false } }
  var isSuccess: Bool { if case .done(failure: nil) = self { true } else { false } }

  var failure: (any Error)? {
    switch self {
    case .done(let failure): failure
    case .left: nil
    case .held(let error): error
    case .conflicted(let conflict): conflict.error
    }
  }
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
    let position = ticket.position
    // Another call is made in place of this one.
    if ticket.result.isReplaced { return }
    if self.endTakenOver(ticket) { return }
    let end = self.decided(end, of: position)
    if !end.isDone, !self.mayStore(ticket) { return self.endUnstored(ticket, end, in: context) }
    switch end {
    case .conflicted(let conflict):
      self.change { $0.endBodies(of: position) }
      ticket.result.decide(.failure(JournalError.conflicted(ticket.name, conflict.error)), isFinal: false)
      await self.setAside(
        ticket,
        as: .conflicted,
        conflict,
        because: "what it would change was changed meanwhile: \(ShownText.whole(conflict.error))",
        in: context
      )
    case .done(let failure):
      let attempts = self.attempts(of: ticket)
      let ending = failure.map { JournalEnding.failed($0) } ?? .succeeded(ticket.result.lastValue)
      let write = self.change { $0.end(position, ending) }
      await self.finish(ticket, write)
      if let failure { ticket.result.decide(.failure(failure), isFinal: true) } else { ticket.result.succeed() }
      self.send(in: context) {
        failure.map { ticket.notice(of: $0, after: attempts, isFinal: true) } ?? ticket.notice(.journalSent)
      }
    case .left:
      await self.record(ticket) { $0.endBodies(of: position) }
      if self.isToExpire(ticket) { return await self.setAside(ticket, as: .expired, because: Self.expiryReason) }
      let backoff = self.backoffOfCancelledReplay(ticket)
      self.putBack(ticket, isHeld: backoff != nil, failure: nil, retryAfter: backoff)
    case .held(let error):
      let attempts = self.attempts(of: ticket)
      self.send(in: context) { ticket.notice(of: error, after: attempts, isFinal: false) }
      let (failures, failuresInARow) = self.change { state -> (Int, Int) in
        state.endBodies(of: position)
        state.items[position]?.failuresInARow += 1
        // A failure that passes by itself says nothing about the call, however often it occurs.
        if !error.isTransient { state.edit(position) { $0.record?.failureCount += 1 } }
        return (state.items[position]?.record?.failureCount ?? 0, state.items[position]?.failuresInARow ?? 1)
      }
      ticket.result.decide(.failure(error), isFinal: false)
      if self.isToExpire(ticket) { return await self.setAside(ticket, as: .expired, because: Self.expiryReason) }
      if failures >= self.attemptsBeforeDeadLetter {
        await self.setAside(
          ticket,
          because: "it has failed \(failures) times, at last with \(ShownText.of(error))",
          in: context
        )
      } else if error.isTransient, self.isTooOld(ticket) {
        await self.setAside(
          ticket,
          because: "it has not succeeded for \(self.ageBeforeDeadLetter), at last because of \(ShownText.of(error))",
          in: context
        )
      } else {
        await self.record(ticket) { _ in }
        let backoff = self.backoff(afterFailures: failuresInARow, error)
        self.putBack(ticket, isHeld: true, failure: ShownText.whole(error), retryAfter: backoff, hint: error.retryHint)
      }
    }
  }

  /// Ends a call that has no entry any more, because another process has made or removed it. Returns false for others.
  private func endTakenOver(_ ticket: JournalTicket) -> Bool {
    guard self.state.withLock({ $0.items[ticket.position]?.phase.isTakenOver ?? false }) else { return false }
    self.change { $0.remove(ticket.position) }
    ticket.updates?.end()
    ticket.result.decide(.failure(JournalError.ended(.takenOver, ticket.name)), isFinal: true)
    return true
  }

  /// Whether a call without an end of its own has waited for too long.
  private func isTooOld(_ ticket: JournalTicket) -> Bool {
    let now = self.date.timeIntervalSinceReferenceDate
    return self.state.withLock { state in
      guard let item = state.items[ticket.position], let record = item.record, record.expiresAt == nil
      else { return false }
      // The clock of the call may not have been set when it was accepted.
      let since = item.failingSince ?? now
      state.items[ticket.position]?.failingSince = since
      let start = record.retriedAt ?? (record.acceptedAt > 0 ? record.acceptedAt : since)
      return now - start >= self.ageBeforeDeadLetter.seconds
    }
  }

  /// Ends the turn of a call after the process has lost the lease. This process or another one makes the
  /// call again, as it is stored.
  private func endUnstored(_ ticket: JournalTicket, _ end: JournalEnd, in context: OperationContext?) {
    self.change { $0.endBodies(of: ticket.position) }
    guard let failure = end.failure else {
      let backoff = self.backoffOfCancelledReplay(ticket)
      return self.putBack(ticket, isHeld: backoff != nil, failure: nil, retryAfter: backoff)
    }
    let attempts = self.attempts(of: ticket)
    self.send(in: context) { ticket.notice(of: failure, after: attempts, isFinal: false) }
    ticket.result.decide(.failure(failure), isFinal: false)
    let backoff = self.backoff(afterFailures: 1, failure)
    self.putBack(ticket, isHeld: true, failure: ShownText.whole(failure), retryAfter: backoff, hint: failure.retryHint)
  }

  /// How a call ends after the decision about a conflict. Called once for each decision.
  func decided(_ end: JournalEnd, of position: JournalState.Position) -> JournalEnd {
    switch self.state.withLock({ $0.items[position]?.decision.take() }) {
    case .ask(let conflict): return .conflicted(conflict)
    case .discard(let error): return .done(failure: error)
    case .again:
      guard case .done(let failure?) = end else { return end }
      return .held(failure)
    // Its attempt has not begun, unless another one of the same run has succeeded.
    case .unstored where end.isSuccess, .stopped where end.isSuccess: return end
    case .unstored(let error): return .held(error)
    case .stopped: return .left
    // What this run has made was another request.
    case .overtaken: return .left
    case nil: return end
    }
  }

  /// The time until a replay is made again that was not cancelled by a caller.
  ///
  /// Nil if a caller has cancelled it, or if the journal does not resume by itself.
  private func backoffOfCancelledReplay(_ ticket: JournalTicket) -> Duration? {
    let count = self.change { state -> Int? in
      guard ticket.isReplay, state.items[ticket.position]?.replay.isCancelled == false else { return nil }
      state.items[ticket.position]?.failuresInARow += 1
      return state.items[ticket.position]?.failuresInARow
    }
    return count.flatMap { self.backoff(afterFailures: $0, CancellationError()) }
  }

  /// How many times a body has begun; 0 if the call was removed.
  private func attempts(of ticket: JournalTicket) -> Int {
    self.state.withLock { $0.items[ticket.position]?.record?.attempts ?? 0 }
  }

  /// Waits for the removal of an ended call, and removes it from memory. If the removal fails, the next stored change
  /// repeats it.
  private nonisolated(nonsending) func finish(_ ticket: JournalTicket, _ write: JournalWrite?) async {
    var failure: (any Error)?
    do {
      try await write?.value()
    } catch is JournalEntryChanged {
      // Another process has removed the entry, or has replaced the arguments, which makes it another request.
    } catch {
      failure = error
    }
    self.change { [isFailed = failure != nil] state in
      if isFailed, let item = state.items[ticket.position] { state.failedRemovals.add(item.storageKey, item.removal) }
      // This comes before the turn is passed on: a later call of the scope must not end while this call is still
      // stored.
      state.remove(ticket.position)
    }
    ticket.updates?.end()
    if let failure {
      OperationWarning.report(
        storageFailedTo: "remove the journal entry \(ticket.id). After a restart it is sent again",
        failure
      )
    }
  }

  /// Changes a call, and waits until the decision about it is stored.
  private nonisolated(nonsending) func record(
    _ ticket: JournalTicket,
    _ change: @Sendable (inout JournalState) -> Void
  ) async {
    let write = self.change { state in
      change(&state)
      return state.items[ticket.position]?.isGone == false ? state.write(ticket.position, isOfAttempts: true) : nil
    }
    do {
      try await write?.value()
    } catch is JournalLeaseLost {
      // The stored entry is left to the process that has the lease.
    } catch is JournalEntryChanged {
      // So is an entry that another process has changed.
    } catch {
      OperationWarning.report(storageFailedTo: "record the end of the journal entry \(ticket.id)", error)
    }
  }

  /// Ends the turn of a call that will be made again.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - isHeld: Whether it has failed, or cannot be made now.
  ///   - failure: The failure as text; nil if there is none.
  ///   - delay: The time after which the journal makes it again by itself; nil if another event does.
  ///   - hint: The part of that time that no other event makes shorter; nil for none.
  func putBack(
    _ ticket: JournalTicket,
    isHeld: Bool,
    failure: String?,
    retryAfter delay: Duration? = nil,
    hint: Duration? = nil
  ) {
    if self.endTakenOver(ticket) { return }
    let now = self.deadlines.elapsed
    let time = delay.map { now + $0 }
    let hintEnd = hint.map { now + min($0, Self.longestHint) }
    let isLeft = self.change { state -> Bool in
      let item: Void? = state.edit(ticket.position) { item in
        item.activity = .none
        item.replay.end()
        // Another process may have set it aside meanwhile.
        item.hold = isHeld || item.record?.isHolding == true ? .held(hintEnd: hintEnd) : .none
        if let failure { item.lastFailure = failure }
      }
      // The entry was removed meanwhile.
      if item == nil {
        if let updates = ticket.updates { state.actions.ended.append(updates) }
        state.actions.results.append((ticket.result, .ended(.removed, ticket.name)))
      }
      state.endDue(ticket.position)
      state.setRetry(of: ticket.position, at: time)
      state.advance(ticket.scope)
      state.makeAwaited(ticket.position)
      return item != nil && !isHeld && !ticket.isReplay
    }
    // The caller was cancelled. The call is still to be made.
    if isLeft { self.resumeByItself(.call(ticket.position)) }
  }

  /// Ends the turn of a call that is kept and not made before the user acts.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - aside: The reason; nil for a dead letter.
  ///   - conflict: The stored part of a conflict; nil if there is none.
  ///   - reason: The reason as text.
  ///   - context: The context of the run, whose observers are notified; nil for the observers of the client.
  nonisolated(nonsending) func setAside(
    _ ticket: JournalTicket,
    as aside: JournalRecord.Aside? = nil,
    _ conflict: StoredConflict? = nil,
    because reason: String,
    in context: OperationContext? = nil
  ) async {
    let position = ticket.position
    let change = self.change { state -> (before: JournalRecord, after: JournalRecord, write: JournalWrite?)? in
      guard let before = state.items[position]?.record, state.items[position]?.isGone == false else { return nil }
      state.items[position]?.expiry.endStoring()
      state.edit(position) { $0.record?.setAside(as: aside, conflict) }
      return (before, state.items[position]?.record ?? before, state.write(position))
    }
    guard let (before, record, write) = change else { return self.putBack(ticket, isHeld: false, failure: nil) }
    do throws(AsideRefused) {
      try await self.waitForAside(ticket, write)
    } catch {
      // This process or another one makes the call again.
      if error == .leaseLost { self.change { $0.edit(position) { if $0.record == record { $0.record = before } } } }
      return self.putBack(ticket, isHeld: true, failure: nil, retryAfter: self.backoff(afterFailures: 1, nil))
    }
    self.change { state in
      if !record.isHolding { state.leave(position) }
      state.endAside(position, because: reason)
      state.advance(record.scope)
    }
    self.reportAside(record, ticket, because: reason, in: context)
  }

  /// Waits until the new status of a call is stored.
  ///
  /// - Throws: The reason for which another process decides about the call.
  nonisolated(nonsending) func waitForAside(
    _ ticket: JournalTicket,
    _ write: JournalWrite?
  ) async throws(AsideRefused) {
    do {
      try await write?.value()
    } catch is JournalLeaseLost {
      throw .leaseLost
    } catch is JournalEntryChanged {
      throw .changed
    } catch {
      OperationWarning.report(storageFailedTo: "set the journal entry \(ticket.id) aside", error)
    }
  }

  /// Reports a call that is not made before the user acts.
  func reportAside(
    _ record: JournalRecord,
    _ ticket: JournalTicket,
    because reason: String,
    in context: OperationContext? = nil
  ) {
    let wait = record.isHolding ? " Later calls of its scope wait until then." : ""
    switch record.status {
    case .expired:
      ticket.result.decide(.failure(JournalError.ended(.expired, ticket.name)), isFinal: false)
      OperationWarning(
        code: .journalCallExpired,
        severity: .failure,
        message: """
          The call of "\(record.name)" with the key \(record.id) was not made, because its time has passed. It is kept, \
          and not made before `retry(_:)`; `remove(_:)` removes it.\(wait)
          """
      ).report()
      self.send(in: context) { ticket.notice(.journalExpired, attempts: record.attempts) }
    case .conflicted: self.send(in: context) { ticket.notice(.journalConflicted, attempts: record.attempts) }
    case nil:
      OperationWarning(
        code: .journalDeadLetter,
        severity: .failure,
        message: """
          The call of "\(record.name)" with the key \(record.id) becomes a dead letter: \(reason). It is kept, and not \
          made before `retry(_:)`; `remove(_:)` removes it.\(wait)
          """
      ).report()
      self.send(in: context) { ticket.notice(.journalDeadLetter, attempts: record.attempts) }
    }
  }
}

/// Why a call is not set aside.
enum AsideRefused: Error {
  /// This process has lost the lease.
  case leaseLost
  /// Another process has changed the entry, and this one knows it as it is now.
  case changed
}

extension JournalState {
  /// Records that a call has ended. Returns the write of its removal; nil if it was removed before.
  fileprivate mutating func end(_ position: Position, _ ending: JournalEnding) -> JournalWrite? {
    guard self.items[position] != nil else { return nil }
    self.items[position]?.phase.end(with: ending)
    return self.write(position)
  }

  /// Ends the waits and the work for a call that is kept for the user.
  mutating func endAside(_ position: Position, because reason: String) {
    self.edit(position) { item in
      item.activity = .none
      item.replay.end()
      item.lastFailure = reason
      item.hold = item.record?.isHolding == true ? .held : .none
    }
    self.setRetry(of: position, at: nil)
    self.setExpiry(of: position, at: nil)
    self.endDue(position)
    self.dropUpdates(of: position)
    if let name = self.items[position]?.record?.schedule { self.actions.schedules.append(name) }
  }

  /// Records that the updates of a call are no longer shown. Its next run makes new ones.
  mutating func dropUpdates(of position: Position) {
    guard let updates = self.items[position]?.updates else { return }
    self.items[position]?.updates = KeptUpdates()
    self.actions.ended.append(updates)
  }
}

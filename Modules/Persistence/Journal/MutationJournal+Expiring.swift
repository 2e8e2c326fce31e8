public import OperationCore
internal import OperationFoundation
public import OperationMutation

extension MutationRequest {
  /// Limits the time in which a journaled call can be made.
  ///
  /// ```swift
  /// SendMessage().scope("chat").journaled(as: "send-message").expires(after: .seconds(86_400))
  /// ```
  ///
  /// If the body of a call has not begun within the time, the call is not made: it is reported, its caller gets a
  /// ``JournalError``, and its entry is kept with the status ``JournalEntry/Status/expired``, until
  /// ``MutationJournal/retry(_:)`` gives it the same time again or ``MutationJournal/remove(_:)`` removes it. The same
  /// applies to a call that has failed and would be made again. Later calls of its scope wait for it if it was sent
  /// before, because they may build on it: see ``OperationMutation/MutationRequest/deadLetters(_:)``. They do not wait
  /// for a call that was never sent.
  ///
  /// A call without a time of its own is given up after seven days of failures that pass by themselves: see
  /// ``MutationJournal/ageBeforeDeadLetter``.
  ///
  /// - Parameter lifetime: The time since the call was accepted, by the clock of the client, also over restarts. If the
  ///   clock is set back meanwhile, it is the longest time that is left. A negative one is reported and counts as zero.
  /// - Returns: The mutation with the time in its context.
  public func expires(after lifetime: Duration) -> ContextModifiedOperation<Self> {
    let lifetime = lifetime.reportedIfNegative(in: "expires(after:)").clampedForClock
    return self.context { $0.journalLifetime = lifetime }.written(".expires(after: \(lifetime.roundedText))")
  }
}

extension OperationContext {
  /// How long after its acceptance a journaled call can be made; nil for any time.
  var journalLifetime: Duration? {
    get { self[JournalLifetimeKey.self] }
    set { self[JournalLifetimeKey.self] = newValue }
  }

  private enum JournalLifetimeKey: Key {
    static let defaultValue: Duration? = nil
  }
}

extension MutationJournal {
  /// The date by the clock of the client.
  var date: Date { (self.boundClient?.defaultContext ?? OperationContext()).operationClock.now() }

  /// Begins to watch the times at which calls expire, by the clock and the deadlines of the client.
  ///
  /// - Parameter isAnew: Whether the clock or the deadlines may have changed.
  func watchExpiry(anew isAnew: Bool = false) {
    if self.state.withLock({ $0.watchesExpiry && !isAnew }) { return }
    let (date, now) = (self.date, self.deadlines.elapsed)
    self.change { state in
      state.watchesExpiry = true
      for position in state.items.keys.sorted() { state.setExpiry(of: position, at: date, now) }
    }
  }

  static var expiryReason: String { "its time has passed" }

  /// Sets the time at which a call expires that was just accepted; nil for never.
  func setExpiry(of position: JournalState.Position, after lifetime: Duration?) {
    guard let lifetime else { return }
    self.watchExpiry()
    let time = self.deadlines.elapsed + lifetime
    self.change { $0.setExpiry(of: position, at: time) }
  }

  /// Sets the times at which calls expire that were read.
  func setExpiry(of positions: [JournalState.Position]) {
    let (date, now) = (self.date, self.deadlines.elapsed)
    self.change { state in
      // Otherwise the times of all calls are set when the journal begins to watch them.
      guard state.watchesExpiry else { return }
      for position in positions { state.setExpiry(of: position, at: date, now) }
    }
  }

  /// Whether a body of a call may begin that can be refused.
  func mayBegin(_ ticket: JournalTicket) -> Bool {
    guard let item = self.state.withLock({ $0.items[ticket.position] }) else { return false }
    return self.refusal(of: item, ticket) == nil
  }

  /// Why the run of a call ends with a cancellation, although nothing has cancelled it; nil if something has, and for the replay of a
  /// removed call, which is not reported.
  func refusal(of ticket: JournalTicket) -> JournalError? {
    guard let item = self.state.withLock({ $0.items[ticket.position] }) else {
      return Task.isCancelled || ticket.isReplay ? nil : .ended(ticket.result.turn, ticket.name)
    }
    return self.refusal(of: item, ticket)
  }

  private func refusal(of item: JournalState.Item, _ ticket: JournalTicket) -> JournalError? {
    if let refusal = item.decision?.refusal { return refusal }
    if item.phase.isTakenOver { return .ended(.takenOver, ticket.name) }
    if item.expiry.hasPassed || item.record?.status == .expired { return .ended(.expired, ticket.name) }
    // Another process has set it aside.
    return item.record?.isDeadLetter == true ? .ended(.takenOver, ticket.name) : nil
  }

  /// Whether the time of a call has passed and the call has no such status yet.
  func isToExpire(_ ticket: JournalTicket) -> Bool {
    self.state.withLock { state in
      guard let item = state.items[ticket.position] else { return false }
      return item.expiry.hasPassed && item.record?.isDeadLetter == false
    }
  }

  /// Marks a call as expired if its time has passed, or refuses its next body.
  ///
  /// Another process may have made the call while this one was suspended, so its end is not reported before that is
  /// stored.
  func expire(_ position: JournalState.Position) async {
    guard let (ticket, write) = self.change({ $0.beginExpiry(of: position, in: self) }) else { return }
    do throws(AsideRefused) { try await self.waitForAside(ticket, write) } catch {
      self.change { $0.items[position]?.expiry.endStoring() }
      return
    }
    guard let record = self.change({ $0.endExpiry(of: position) }) else { return }
    self.reportAside(record, ticket, because: Self.expiryReason)
  }
}

extension JournalState {
  /// Sets the time at which a call expires, from its record.
  mutating func setExpiry(of position: Position, at date: Date, _ now: Duration) {
    guard let item = self.items[position], item.isPending || !item.isStored, let record = item.record,
      let expiry = record.expiresAt, let lifetime = record.lifetime
    else { return }
    // If the clock was set back, the time that is left is at most the lifetime.
    let rest = min(max(expiry - date.timeIntervalSinceReferenceDate, 0), lifetime)
    self.setExpiry(of: position, at: now + .seconds(rest))
  }

  /// Decides that a call has expired. Returns it if it can be marked now, because nothing makes it, and the write.
  fileprivate mutating func beginExpiry(
    of position: Position,
    in journal: MutationJournal
  ) -> (JournalTicket, JournalWrite?)? {
    guard let item = self.items[position], let record = item.record, !item.isGone, !record.isDeadLetter else {
      return nil
    }
    self.items[position]?.expiry.pass()
    // A call that another process may be making is refused once this process has the lease.
    if record.owner != self.owner, !self.maySend(position) { return nil }
    // If the call is not replaced after all, it is refused at its turn.
    if item.replacement != nil { return nil }
    switch item.activity {
    case .none, .waiting: break
    case .claimed(let run, _):
      self.items[position]?.activity = .claimed(run, endedEarly: .expired)
      return nil
    case .running:
      // A body that runs may succeed. A body that has not begun is refused.
      if item.activity.isReplay, case .none = item.bodies, let replay = item.replay.task {
        self.actions.cancelled.append(replay)
      }
      return nil
    }
    guard item.isStored else { return nil }
    var expired = record
    if case .counted = item.bodies { expired.attempts -= 1 }
    expired.setAside(as: .expired)
    self.items[position]?.expiry = .storing(expired)
    let ticket = JournalTicket(
      journal: journal,
      position: position,
      id: item.id,
      name: record.name,
      scope: record.scope,
      isReplay: true,
      result: item.result
    )
    return (ticket, self.write(position))
  }

  /// Marks a call as expired, once that is stored. Returns its record; nil if it has ended meanwhile.
  fileprivate mutating func endExpiry(of position: Position) -> JournalRecord? {
    guard let item = self.items[position], let expired = item.expiry.record, !item.isGone else { return nil }
    if !expired.isHolding { self.leave(position) }
    self.endWait(of: position, with: .expired)
    self.edit(position) { item in
      item.record = expired
      item.expiry.endStoring()
      item.bodies.takeBack()
      // The end of a run finds its call as it is now.
      if !item.activity.isRunning { item.activity = .none }
    }
    if self.items[position]?.activity.isNone == true { self.endAside(position, because: MutationJournal.expiryReason) }
    self.removeLinks(of: position)
    self.advance(expired.scope)
    return expired
  }
}

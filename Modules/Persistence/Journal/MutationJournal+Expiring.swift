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
      for place in state.items.keys.sorted() { state.setExpiry(of: place, at: date, now) }
    }
  }

  static var expiryReason: String { "its time has passed" }

  /// Sets the time at which a call expires that was just accepted; nil for never.
  func setExpiry(of place: JournalState.Place, after lifetime: Duration?) {
    guard let lifetime else { return }
    self.watchExpiry()
    let time = self.deadlines.elapsed + lifetime
    self.change { $0.setExpiry(of: place, at: time) }
  }

  /// The reason for which a body of a call was refused; nil if it was not.
  func refusal(of ticket: JournalTicket) -> JournalError? {
    let (isTakenOver, isExpired) = self.state.withLock { state in
      (state.items[ticket.place]?.isTakenOver ?? false, state.items[ticket.place]?.isExpired ?? false)
    }
    if isTakenOver { return .ended(.takenOver, ticket.name) }
    return isExpired ? .ended(.expired, ticket.name) : nil
  }

  /// Whether the time of a call has passed and the call has no such status yet.
  func isToExpire(_ ticket: JournalTicket) -> Bool {
    self.state.withLock { state in
      guard let item = state.items[ticket.place] else { return false }
      return item.isExpired && item.record?.isDeadLetter == false
    }
  }

  /// Marks a call as expired if its time has passed, or refuses its next body.
  func expire(_ place: JournalState.Place) async {
    // This is one change, so that the decision of another process does not come in between.
    let expiry = self.change { state in
      state.beginExpiry(of: place, in: self).map { ($0, state.items[place]?.record, state.write(place)) }
    }
    guard case (let ticket, let record?, let write)? = expiry else { return }
    await self.waitForAside(ticket, write)
    self.reportAside(record, ticket, because: Self.expiryReason)
  }
}

extension JournalState {
  /// Sets the time at which a call expires, from its record.
  mutating func setExpiry(of place: Place, at date: Date, _ now: Duration) {
    guard let item = self.items[place], item.isPending || !item.isStored, let record = item.record,
      let expiry = record.expiresAt, let lifetime = record.lifetime
    else { return }
    // If the clock was set back, the time that is left is at most the lifetime.
    let rest = min(max(expiry - date.timeIntervalSinceReferenceDate, 0), lifetime)
    self.setExpiry(of: place, at: now + .seconds(rest))
  }

  /// Decides that a call has expired. Returns it if it can be marked now, because nothing makes it.
  fileprivate mutating func beginExpiry(of place: Place, in journal: MutationJournal) -> JournalTicket? {
    guard let item = self.items[place], let record = item.record, !item.isGone, !record.isDeadLetter else { return nil }
    self.items[place]?.isExpired = true
    // A call that another process may be making is refused once this process has the right to make it.
    if record.owner != self.owner, !self.maySend(place) { return nil }
    // If the call is not replaced after all, it is refused at its turn.
    if item.replacement != nil { return nil }
    switch item.activity {
    case .none: break
    case .waiting(let continuation, let caller):
      self.edit(place) { $0.activity = .none }
      self.waitingWithoutScope.remove(place)
      self.actions.turns.append((continuation, .expired))
      self.actions.callers.append(caller)
    case .claimed:
      self.items[place]?.endedEarly = .expired
      return nil
    case .running:
      // A body that runs may succeed. A body that has not begun is refused.
      if item.activity.isReplay, item.bodies == 0, !item.isBegunAhead, let replay = item.replay {
        self.actions.cancelled.append(replay)
      }
      return nil
    }
    guard item.isStored else { return nil }
    self.edit(place) { item in
      if item.isBegunAhead { item.record?.attempts -= 1 }
      item.isBegunAhead = false
      item.record?.setAside(as: .expired)
    }
    if self.items[place]?.isInLane == false { self.leave(place) }
    self.endAside(place, because: MutationJournal.expiryReason)
    self.removeLinks(of: place)
    self.advance(record.scope)
    return JournalTicket(
      journal: journal,
      place: place,
      id: item.id,
      name: record.name,
      lane: record.scope,
      isReplay: true,
      fate: item.fate
    )
  }
}

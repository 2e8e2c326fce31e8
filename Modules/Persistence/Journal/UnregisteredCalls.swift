internal import OperationCore
internal import OperationFoundation

extension MutationJournal {
  /// What becomes of stored calls with a name that no mutation is registered with.
  ///
  /// ```swift
  /// client.journal = MutationJournal(storage: storage, unregistered: .discard(after: .seconds(90 * 86_400)))
  /// ```
  public struct UnregisteredCalls: Hashable, Sendable {
    /// How old a call is when it is removed; nil if it is kept.
    let age: Duration?

    /// They stay, and calls of their scopes wait for them, until their mutation is registered.
    public static let hold = Self(age: nil)

    /// They are removed, which is reported, once they are of some age and no process has registered their mutation for half
    /// a minute. For programs that have dropped a mutation.
    ///
    /// - Parameter age: The time since the call was accepted, by the clock of the client. A negative one is reported and
    ///   counts as zero.
    /// - Returns: The policy.
    public static func discard(after age: Duration) -> Self {
      Self(age: age.reportedIfNegative(in: "discard(after:)").clampedForClock)
    }
  }
}

extension MutationJournal {
  /// Ends a replay that cannot begin because no mutation is registered. `resume()` tries again.
  func endUnregistered(_ ticket: JournalTicket, _ record: JournalRecord) async {
    if let rest = self.timeUntilDiscarding(record, at: ticket.position) {
      guard rest > .zero else { return await self.discardUnregistered(ticket) }
      self.hold(ticket, retryAfter: rest)
    } else {
      self.hold(ticket, retryAfter: nil)
    }
  }

  private func hold(_ ticket: JournalTicket, retryAfter time: Duration?) {
    OperationWarning(
      code: .journalNameUnregistered,
      message: """
        The journal has a call of "\(ticket.name)" with the key \(ticket.id), and no mutation is registered with that \
        name. It stays, and calls of its scope wait for it. Call `register(_:as:)` before `resume()`, or `remove(_:)`.
        """
    ).report()
    self.putBack(ticket, isHeld: true, failure: nil, retryAfter: time)
    self.send(in: nil) { ticket.notice(.journalUnregistered) }
  }

  /// How long a call with an unregistered name is kept; zero if it is removed now, and nil if it stays.
  private func timeUntilDiscarding(_ record: JournalRecord, at position: JournalState.Position) -> Duration? {
    guard let age = self.unregistered.age else { return nil }
    let (date, now) = (self.date.timeIntervalSinceReferenceDate, self.deadlines.elapsed)
    let since = self.state.withLock { state in
      let since = state.items[position]?.unregisteredSince ?? now
      state.items[position]?.unregisteredSince = since
      return since
    }
    // A program may register its mutations late, and the clock of the call may not have been set.
    let isKnown = record.acceptedAt > 0
    let rest = isKnown ? age - .seconds(max(0, date - record.acceptedAt)) : age - (now - since)
    return max(rest, Self.registrationTime - (now - since), .zero)
  }

  /// Looks at a call again that is to be discarded, in a journal that is resumed by hand.
  func lookAgain(at position: JournalState.Position) {
    self.change { $0.lookAgain(at: position) }
  }

  private func discardUnregistered(_ ticket: JournalTicket) async {
    guard await self.remove(ticket.id) else {
      return self.putBack(ticket, isHeld: true, failure: nil, retryAfter: Self.registrationTime)
    }
    ticket.result.decide(.failure(JournalError.ended(.removed, ticket.name)), isFinal: true)
    OperationWarning(
      code: .journalNameUnregistered,
      severity: .failure,
      message: """
        The journal has removed a call of "\(ticket.name)" with the key \(ticket.id): no mutation is registered with that \
        name, and the journal was made with `unregistered: .discard(after:)`. It was not made.
        """
    ).report()
  }
}

extension JournalState {
  /// Makes a call due whose name is still not registered, and none behind it: those wait for `resume()`, or for their callers.
  fileprivate mutating func lookAgain(at position: Position) {
    guard let item = self.items[position], item.unregisteredSince != nil, self.mayBeResumed(item),
      let record = item.record, !self.names.contains(record.name)
    else { return }
    // It counts for the last resumption. A journal that was never resumed does not begin to make the calls of other processes.
    self.makeDue(position, in: max(self.lastResumption, 1))
    self.dueWithoutScope.sort(by: >)
    self.advanceAll([position])
  }
}

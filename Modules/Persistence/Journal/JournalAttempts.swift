internal import OperationCore
internal import OperationMutation

/// Counts the bodies of a call, before they begin, and records that they have ended.
final class JournalAttempts: MutationBodyObserver {
  private let ticket: JournalTicket
  /// The run of the call: the known one, or the first run that asks.
  private let run: Locked<OperationTaskIdentifier??>

  init(of ticket: JournalTicket) {
    self.ticket = ticket
    self.run = Locked(nil)
  }

  init(of ticket: JournalTicket, in run: OperationTaskIdentifier?) {
    self.ticket = ticket
    self.run = Locked(.some(run))
  }

  func observes(_ run: OperationTaskIdentifier?) -> Bool {
    self.run.withLock { known in
      guard let known else {
        known = .some(run)
        return true
      }
      return known == run
    }
  }

  nonisolated(nonsending) func bodyWillBegin(mayRefuse: Bool) async -> Bool {
    let (journal, position) = (self.ticket.journal, self.ticket.position)
    while true {
      guard await journal.waitToSend(self.ticket, mayLeave: mayRefuse, isCounted: false) else { return false }
      let step = journal.change { [isReplay = self.ticket.isReplay] in
        $0.beginBody(of: position, mayRefuse: mayRefuse, isReplay: isReplay)
      }
      let write: JournalWrite?
      switch step {
      case .begin(let begun): write = begun
      case .refuse: return false
      case .wait(let signal):
        // Another call is about to replace this one, or it is being removed.
        await signal.value()
        continue
      }
      // The call was replaced, and its caller waits for the call in its place.
      if mayRefuse, self.ticket.result.isReplaced { return false }
      do {
        try await write?.value()
      } catch is JournalLeaseLost {
        // The call waits for the lease again.
        journal.change { $0.takeBackBody(of: position, isStored: false) }
        continue
      } catch is JournalEntryChanged {
        // Another process has sent, changed or removed the call. Its entry says what is to be done with it.
        journal.change { $0.leaveBody(of: position) }
        continue
      } catch {
        if mayRefuse, journal.hasUnstoredRevision(position) {
          // After a restart it would be made with its earlier arguments, too.
          journal.change { $0.takeBackBody(of: position, isStored: false) }
          journal.decide(.unstored(.notStored(self.ticket.name, error)), about: position)
          return false
        }
        if mayRefuse, (error as? StorageError)?.code == .closed {
          // Its end could not be stored either: after a restart it would count as not sent, and be made or merged under another key.
          journal.change { $0.takeBackBody(of: position, isStored: false) }
          journal.decide(.unstored(.closed(self.ticket.name, error)), about: position)
          return false
        }
        // The call was accepted, so it is made without the count.
        OperationWarning.report(storageFailedTo: "count the attempts of the journal entry \(self.ticket.id)", error)
      }
      // The lease may have ended during the write. Another process may have made the call since then.
      var maySend = true
      if write != nil { maySend = await journal.waitToSend(self.ticket, mayLeave: mayRefuse, isCounted: true) }
      if maySend, !mayRefuse || !journal.stopReplay(of: self.ticket) && journal.mayBegin(self.ticket) { return true }
      let isStored = journal.mayStore(self.ticket)
      journal.change { $0.takeBackBody(of: position, isStored: isStored) }
      return false
    }
  }

  nonisolated(nonsending) func bodyDidEnd(isSuccess: Bool) async {
    let position = self.ticket.position
    // After a success, the end of the call follows at once. After a failure, the call may wait for long, and the
    // process may end during that time. Nothing depends on this write, so no task waits for it.
    let isStored = !isSuccess && self.ticket.journal.mayStore(self.ticket)
    self.ticket.journal.change { $0.endBody(of: position, isSuccess: isSuccess, isStored: isStored) }
  }
}

extension MutationJournal {
  /// Whether a call has arguments from after a conflict that are not stored.
  fileprivate func hasUnstoredRevision(_ position: JournalState.Position) -> Bool {
    self.state.withLock { state in state.items[position].map { !$0.changes.isRevisionStored } ?? false }
  }

  /// Whether decisions about a call may be stored.
  ///
  /// If this process has lost the lease, another process may have made it and removed its entry.
  func mayStore(_ ticket: JournalTicket) -> Bool {
    guard let lease else { return true }
    let leaseKey = self.state.withLock { $0.leaseKey(of: ticket.position) }
    return leaseKey.map { lease.holds($0, at: self.deadlines.elapsed) } ?? true
  }

  /// Whether a body that was counted must not begin, because the program is about to end and the call has no caller.
  fileprivate func stopReplay(of ticket: JournalTicket) -> Bool {
    guard ticket.isReplay, self.state.withLock({ $0.isStopped }) else { return false }
    return self.change { $0.stopReplay(of: ticket.position, isCounted: true) }
  }

  /// Waits until a call may be sent. Returns false if its wait can end early, and the current task was cancelled meanwhile or the call
  /// is not made any more.
  ///
  /// - Parameters:
  ///   - ticket: The call.
  ///   - mayLeave: Whether its wait can end early.
  ///   - isCounted: Whether the body that waits is counted.
  /// - Returns: Whether it may be sent.
  nonisolated(nonsending) func waitToSend(_ ticket: JournalTicket, mayLeave: Bool, isCounted: Bool) async -> Bool {
    guard let lease else { return true }
    // Whether it has asked for the lease since the program is about to end.
    var hasAskedAtLast = false
    while true {
      let (known, maySend) = self.state.withLock { state in
        let leaseKey = state.leaseKey(of: ticket.position)
        return (leaseKey, leaseKey.map { state.maySend($0) } ?? true)
      }
      guard let leaseKey = known else { return true }
      // A process that was suspended may have lost its lease.
      let isLost = !lease.holds(leaseKey, at: self.deadlines.elapsed)
      if maySend, !isLost { return true }
      let step = self.change { [hasAskedAtLast] state -> SendStep in
        if isLost { state.leases.held?.remove(leaseKey) }
        if state.maySend(leaseKey) { return .send }
        if mayLeave, state.stopReplay(of: ticket.position, isCounted: isCounted) { return .leave(nil) }
        // The journal may have got another client meanwhile.
        if mayLeave, hasAskedAtLast, state.isStopped { return .leave(.ended(.stopped, ticket.name)) }
        state.ask(for: leaseKey)
        let waiter = SendWaiter(mayLeave: mayLeave)
        state.leases.sendWaiters[leaseKey, default: []].append(waiter)
        return .wait(waiter.signal, isLast: state.isStopped)
      }
      switch step {
      case .send: return true
      case .leave(let refusal):
        if let refusal { self.decide(.stopped(refusal), about: ticket.position) }
        return false
      case .wait(let signal, let isLast):
        hasAskedAtLast = isLast
        if mayLeave { await signal.value(cancelled: ()) } else { await signal.value() }
        guard mayLeave, Task.isCancelled else { continue }
        self.change { state in _ = state.leases.removeSendWaiters(of: leaseKey) { $0.signal === signal } }
        return false
      }
    }
  }
}

/// What an attempt does before it is sent.
private enum SendStep: Sendable {
  case send
  /// It waits for the lease. If it is the last time, the program is about to end.
  case wait(AwaitedOutcome<Void>, isLast: Bool)
  /// It does not begin. The caller gets the error; nil if the call has no caller.
  case leave(JournalError?)
}

extension JournalState {
  fileprivate enum BodyStep {
    /// The body begins when the write has ended.
    case begin(JournalWrite?)
    case wait(AwaitedOutcome<Void>)
    case refuse
  }

  /// Counts a body that begins, and returns the write that the body waits for.
  fileprivate mutating func beginBody(of position: Position, mayRefuse: Bool, isReplay: Bool) -> BodyStep {
    if let signal = self.replacementSignal(of: position) { return .wait(signal) }
    // No attempt begins after the removal of its entry. While the entry is being removed, a call with a caller is still made, with
    // stored arguments.
    guard let item = self.items[position] else { return mayRefuse ? .refuse : .begin(nil) }
    if item.isGone {
      if mayRefuse, isReplay { return .refuse }
      if mayRefuse, !item.changes.isRevisionStored { return .wait(self.decision(about: position)) }
      // If the removal fails, the whole entry is written.
      _ = self.countBody(of: position)
      return .begin(nil)
    }
    if mayRefuse, item.phase.isTakenOver || item.expiry.hasPassed || item.record?.isDeadLetter == true {
      return .refuse
    }
    if mayRefuse, isReplay, self.stopReplay(of: position, isCounted: false) { return .refuse }
    switch item.decision {
    case .overtaken: if mayRefuse { return .refuse }
    case .unstored(let refusal), .stopped(let refusal):
      // Of an attempt before.
      self.items[position]?.decision = nil
      self.actions.outcomes.append(.failure(refusal))
    case .ask, .discard, .again, nil: break
    }
    return .begin(self.countBody(of: position) ? self.write(position, isOfAttempts: true) : nil)
  }

  /// Counts a body that begins. Returns whether the count has to be stored.
  private mutating func countBody(of position: Position) -> Bool {
    let isUncounted = self.edit(position) { item in
      let isUncounted = item.bodies.begin()
      if isUncounted {
        item.record?.attempts += 1
        item.record?.isBegun = true
      }
      return isUncounted
    }
    return isUncounted ?? false
  }

  /// Takes back the count of a body that does not begin.
  fileprivate mutating func takeBackBody(of position: Position, isStored: Bool) {
    self.edit(position) { $0.record?.attempts -= 1 }
    self.endBody(of: position, isSuccess: false, isStored: isStored)
  }

  /// Records that a body does not begin, after its entry was read again.
  fileprivate mutating func leaveBody(of position: Position) {
    self.edit(position) { $0.bodies.end() }
  }

  fileprivate mutating func endBody(of position: Position, isSuccess: Bool, isStored: Bool) {
    let isLast = self.edit(position) { $0.bodies.end() && !$0.isGone }
    guard !isSuccess, isLast == true else { return }
    self.edit(position) { $0.record?.isBegun = false }
    if isStored { _ = self.write(position, isOfAttempts: true) }
  }

  /// Takes back the count of a body that has not begun, and records that no body runs.
  mutating func endBodies(of position: Position) {
    self.edit(position) { item in
      if item.bodies.takeBack() { item.record?.attempts -= 1 }
      if !item.bodies.isRunning { item.record?.isBegun = false }
    }
  }
}

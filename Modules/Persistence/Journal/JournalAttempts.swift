internal import OperationCore
internal import OperationMutation

/// Counts the bodies of a call, before they begin, and records that they have ended.
final class JournalAttempts: MutationBodyObserver {
  private let ticket: JournalTicket
  /// The run of the call: the first that asks, or the one that is known.
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
    let place = self.ticket.place
    var write: JournalWrite?
    while true {
      guard await self.ticket.journal.waitToSend(mayLeave: mayRefuse) else { return false }
      let step = self.ticket.journal.change { [isReplay = self.ticket.isReplay] in
        $0.beginBody(of: place, mayRefuse: mayRefuse, isReplay: isReplay)
      }
      if case .begin(let begun) = step {
        write = begun
        break
      }
      guard case .wait(let signal) = step else { return false }
      // Another call is about to replace this one.
      await signal.value()
    }
    // It has been replaced, and its caller waits for the call that has replaced it.
    if mayRefuse, self.ticket.fate.isReplaced { return false }
    do {
      try await write?.value()
    } catch {
      // The call was accepted, so it is made without the count.
      OperationWarning.report(storageFailedTo: "count the attempts of the journal entry \(self.ticket.id)", error)
    }
    // The lease may have ended during the write.
    if await self.ticket.journal.waitToSend(mayLeave: mayRefuse) { return true }
    self.ticket.journal.change { $0.takeBackBody(of: place) }
    return false
  }

  nonisolated(nonsending) func bodyDidEnd(isSuccess: Bool) async {
    let place = self.ticket.place
    // The end of the call follows a success at once. After a failure there may be a long wait, which the process may
    // not survive. Nothing depends on this write, so nothing waits for it.
    self.ticket.journal.change { $0.endBody(of: place, isSuccess: isSuccess) }
  }
}

extension MutationJournal {
  /// Waits until calls may be sent. Returns false if the current task was cancelled meanwhile, and may leave.
  nonisolated(nonsending) func waitToSend(mayLeave: Bool) async -> Bool {
    while true {
      // A process that was suspended may have lost the lease meanwhile.
      let isLost = self.lease.map { !$0.isHeld(at: self.deadlines.elapsed) } ?? false
      let signal = self.change { state -> AwaitedOutcome<Void>? in
        if isLost { state.maySend = false }
        guard !state.maySend else { return nil }
        state.actions.needsLease = true
        let signal = AwaitedOutcome<Void>()
        state.sendWaiters.append(signal)
        return signal
      }
      guard let signal else { return true }
      if mayLeave { await signal.value(cancelled: ()) } else { await signal.value() }
      if mayLeave, Task.isCancelled {
        self.change { state in state.sendWaiters.removeAll { $0 === signal } }
        return false
      }
    }
  }
}

extension JournalState {
  fileprivate enum BodyStep {
    /// It begins when the write has ended.
    case begin(JournalWrite?)
    case wait(AwaitedOutcome<Void>)
    case refuse
  }

  /// Counts a body that begins, and returns the write that the body waits for.
  fileprivate mutating func beginBody(of place: Place, mayRefuse: Bool, isReplay: Bool) -> BodyStep {
    if let signal = self.replacementSignal(of: place) { return .wait(signal) }
    // A removed entry is not made again. Otherwise a caller makes the call, and goes on.
    guard let item = self.items[place], !item.isGone else { return mayRefuse && isReplay ? .refuse : .begin(nil) }
    if mayRefuse, item.isTakenOver || item.isExpired { return .refuse }
    self.edit(place) { item in
      item.bodies += 1
      if !item.isBegunAhead {
        item.record?.attempts += 1
        item.record?.isBegun = true
      }
      item.isBegunAhead = false
    }
    return .begin(item.isBegunAhead ? nil : self.write(place))
  }

  /// Takes back the count of a body that does not begin.
  fileprivate mutating func takeBackBody(of place: Place) {
    self.edit(place) { $0.record?.attempts -= 1 }
    self.endBody(of: place, isSuccess: false)
  }

  fileprivate mutating func endBody(of place: Place, isSuccess: Bool) {
    guard let item = self.items[place] else { return }
    self.edit(place) { $0.bodies -= 1 }
    guard !isSuccess, item.bodies == 1, !item.isGone else { return }
    self.edit(place) { $0.record?.isBegun = false }
    _ = self.write(place)
  }

  /// Takes back the count of a body that has not begun, and records that none runs.
  mutating func endBodies(of place: Place) {
    self.edit(place) { item in
      if item.isBegunAhead { item.record?.attempts -= 1 }
      item.isBegunAhead = false
      if item.bodies == 0 { item.record?.isBegun = false }
    }
  }
}

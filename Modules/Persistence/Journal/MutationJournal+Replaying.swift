internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

extension MutationJournal {
  /// Begins to make the calls of earlier starts of the program, and the calls that were cancelled or have failed since.
  ///
  /// ```swift
  /// await journal.resume()                  // Continues when sending has begun.
  /// await journal.resume().settled()        // Waits for the end.
  /// ```
  ///
  /// The calls of a scope are made one after the other, in the order in which they were accepted. Calls of different
  /// scopes, and calls without a scope, are made concurrently, up to the limits of the journal. When this returns, they
  /// show their optimistic updates, below the updates of later calls. Each call is made once, with the attempts of its
  /// own modifiers. A call that fails stays, blocks its scope, and is made again by the next ``resume()``, until it
  /// becomes a dead letter after ``attemptsBeforeDeadLetter``. For failures that pass by themselves, use
  /// `.waits(until:)` or retries in the mutation.
  ///
  /// An entry stays, and is reported, if its name is not registered or if it cannot be read. A storage that cannot be
  /// read is reported, too.
  ///
  /// - Returns: A value with a method ``JournalResumption/settled()`` that waits for these calls, and for the calls of
  ///   earlier resumptions.
  @discardableResult
  public func resume() async -> JournalResumption {
    do {
      try await self.load()
    } catch {
      OperationWarning.report(storageFailedTo: "read the journal", error)
      return JournalResumption(journal: self, number: 0)
    }
    self.watchExpiry()
    self.reportPendingCount()
    let (number, positions) = self.change { state in
      state.schedules.isResumed = true
      return state.makeAllDue()
    }
    self.showUpdates(of: positions)
    self.change(isImmediate: true) { $0.advanceAll(positions) }
    self.checkSchedules()
    return JournalResumption(journal: self, number: number)
  }

  /// Makes a dead letter, or a call that waits, again.
  ///
  /// Attempts and failures are counted from zero. This returns when the call has ended, when an earlier call of its
  /// scope leaves it for ``resume()``, or when the current task is cancelled, which does not cancel the call. Inside of
  /// the body of the call, or of an earlier one of its scope, it would wait for itself: that is reported, and it returns
  /// at once.
  ///
  /// - Parameter id: The identifier of the entry.
  /// - Returns: Whether there is a readable entry with this identifier.
  @discardableResult
  public func retry(_ id: JournalEntry.ID) async -> Bool {
    do { try await self.load() } catch { return false }
    self.watchExpiry()
    guard let position = await self.prepareRetry(of: id) else { return false }
    let signal = AwaitedOutcome<Void>()
    let isDue = self.change { $0.makeDue(position, signal) }
    guard isDue else { return true }
    let isCycle = self.reportCycle("the end of a call that waits for that call") { $0 == position }
    self.showUpdates(of: [position])
    self.change(isImmediate: true) { $0.advanceAll([position]) }
    if isCycle { return true }
    await signal.value(cancelled: ())
    return true
  }

  /// Makes a call in conflict wait for its turn with other arguments. Returns whether the call exists.
  nonisolated(nonsending) func reopen(_ id: JournalEntry.ID, _ revision: JournalRevision) async -> Bool {
    self.watchExpiry()
    return await self.prepareRetry(of: id, revising: revision) != nil
  }

  private nonisolated(nonsending) func prepareRetry(
    of id: JournalEntry.ID,
    revising revision: JournalRevision? = nil
  ) async -> JournalState.Position? {
    while true {
      let (date, now) = (self.date, self.deadlines.elapsed)
      let change = self.change { $0.prepareRetry(of: id, at: date, now, revising: revision) }
      guard let (position, write) = change else { return nil }
      do {
        try await write?.value()
      } catch is JournalEntryChanged {
        // Other arguments were chosen for the call as it was. Otherwise the call as it is now is made again, if it has
        // not ended.
        if revision != nil { return nil }
        continue
      } catch {
        OperationWarning.report(storageFailedTo: "reset the attempts of the journal entry \(id)", error)
      }
      return position
    }
  }

  /// Notes the updates of a run that makes a call again, so that they end if the call is removed.
  func note(_ updates: CallUpdates, of ticket: JournalTicket) {
    let (isRemoved, earlier) = self.change { state -> (Bool, CallUpdates?) in
      let earlier = state.items[ticket.position]?.callUpdates
      state.items[ticket.position]?.callUpdates = updates
      return (state.items[ticket.position] == nil, earlier)
    }
    if isRemoved { updates.end() }
    withExtendedLifetime(earlier) {}
  }
}

extension JournalState {
  /// Makes all calls due that nothing makes. Returns the number of the resumption, and the calls.
  fileprivate mutating func makeAllDue() -> (number: Int, positions: [Position]) {
    self.lastResumption += 1
    var positions: [Position] = []
    for (position, item) in self.items where item.isPending && item.activity.isNone && !item.isGone && !item.isDue {
      positions.append(position)
    }
    positions.sort()
    for position in positions { self.makeDue(position, in: self.lastResumption) }
    // The last call is made first.
    self.dueWithoutScope.sort(by: >)
    return (self.lastResumption, positions)
  }

  /// Begins the calls that have their turn.
  mutating func advanceAll(_ positions: [Position]) {
    for scope in Set(positions.compactMap { self.items[$0]?.scope }) { self.advance(scope) }
    self.advanceWithoutScope()
    self.actions.replays.sort { $0.position < $1.position }
  }

  /// Makes an entry wait for its turn again. Returns nil if there is no readable entry.
  fileprivate mutating func prepareRetry(
    of id: JournalEntry.ID,
    at date: Date,
    _ now: Duration,
    revising revision: JournalRevision? = nil
  ) -> (position: Position, write: JournalWrite?)? {
    guard let position = self.positions[id], let item = self.items[position], let record = item.record, item.isStored,
      !item.isGone
    else { return nil }
    // Another decision may have come first, while the arguments of this one were encoded.
    if let revision, record.status != .conflicted || revision.number != (record.revision ?? 0) + 1 { return nil }
    // The count of a body that runs stays.
    guard item.activity.isNone else { return (position, nil) }
    self.edit(position) { item in
      if let revision {
        item.record?.revise(revision)
        item.record?.failures = 0
        item.changes.noteRevision()
      } else {
        item.record?.countAnew()
      }
      item.record?.retriedAt = date.timeIntervalSinceReferenceDate
      item.record?.takeBack()
      item.record?.expiresAt = record.lifetime.map { date.timeIntervalSinceReferenceDate + $0 }
      item.hold = .none
      item.expiry = .ahead
      item.failuresInARow = 0
    }
    self.setExpiry(of: position, at: date, now)
    // It is not in the queue of its scope if it was set aside, nor if another process makes it.
    if self.items[position]?.isInScope == true, let scope = record.scope { self.enter(scope, position) }
    return (position, self.write(position))
  }

  /// Makes a call due, for a caller that waits for its end. Returns false if it has ended, or if a caller makes it.
  fileprivate mutating func makeDue(_ position: Position, _ signal: AwaitedOutcome<Void>) -> Bool {
    guard !self.isStopped, let item = self.items[position], item.isPending, !item.isGone, !item.isElsewhere,
      item.activity.isNone || item.activity.isReplay
    else { return false }
    self.lastResumption += 1
    self.makeDue(position, in: self.lastResumption)
    self.items[position]?.replayWaiters.append(signal)
    return true
  }

  /// Ends a replay whose call was removed, or is being removed. It is made later if its removal fails.
  fileprivate mutating func endUnmade(_ replay: JournalActions.Replay) {
    guard let item = self.items[replay.position] else {
      // The removal has left this to the run of the call.
      return self.actions.results.append((replay.result, .ended(.removed, replay.name)))
    }
    guard item.activity.isReplay else { return }
    self.edit(replay.position) { item in
      item.activity = .none
      item.replay.end()
    }
    self.endDue(replay.position)
    self.advance(item.scope)
  }

  /// Makes a ticket for a replay. Returns nil if there is nothing to make.
  fileprivate mutating func ticket(
    for position: Position,
    of journal: MutationJournal
  ) -> (JournalTicket, JournalRecord)? {
    guard let item = self.items[position], let record = item.record, !item.isGone else { return nil }
    let updates = item.updates ?? (item.layerPlace == nil ? nil : KeptUpdates())
    self.items[position]?.updates = updates
    let ticket = JournalTicket(
      journal: journal,
      position: position,
      id: record.id,
      name: record.name,
      scope: record.scope,
      isReplay: true,
      layerPlace: item.layerPlace,
      updates: updates,
      result: item.result,
      base: record.base,
      revision: record.revision ?? 0
    )
    return (ticket, record)
  }
}

extension MutationJournal {
  /// Shows the optimistic updates of calls that are made again, before the first of them begins.
  func showUpdates(of positions: [JournalState.Position]) {
    guard !positions.isEmpty, let client = self.boundClient else { return }
    let shows = self.registrations.withLock { $0.compactMapValues(\.show) }
    if shows.isEmpty { return }
    for position in positions {
      let claimed = self.change { $0.ticket(for: position, of: self) }
      guard let (ticket, record) = claimed, let show = shows[record.name] else { continue }
      show(ticket, record, client)
    }
  }

  /// Begins a replay, whose call has its turn.
  func begin(_ replay: JournalActions.Replay, isImmediate: Bool) {
    let position = replay.position
    let task =
      if isImmediate {
        Task.immediate(name: "replay journal", executorPreference: self.executor) { await self.make(replay) }
      } else {
        Task(name: "replay journal", executorPreference: self.executor) { await self.make(replay) }
      }
    let isCancelled = self.change { state -> Bool in
      guard state.items[position]?.activity.isReplay == true else { return false }
      return state.items[position]?.replay.begin(task) ?? false
    }
    if isCancelled { task.cancel() }
  }

  /// Makes a call again.
  private func make(_ replay: JournalActions.Replay) async {
    let (position, client) = (replay.position, self.boundClient)
    let claimed = self.change { $0.ticket(for: position, of: self) }
    guard var ticket = claimed?.0, let record = claimed?.1 else { return self.change { $0.endUnmade(replay) } }
    let isStopped = self.state.withLock { $0.isStopped && $0.items[position]?.replay.isCancelled == true }
    if isStopped { return self.putBack(ticket, isHeld: false, failure: nil) }
    let registration = self.registrations.withLock { $0[record.name] }
    ticket.operationName = registration?.operationName
    if record.failureCount >= self.attemptsBeforeDeadLetter {
      guard self.mayStore(ticket) else { return self.putBack(ticket, isHeld: false, failure: nil) }
      return await self.setAside(
        ticket,
        because: "it has failed, or ended the process, \(record.failureCount) times"
      )
    }
    guard let registration else { return await self.endUnregistered(ticket, record) }
    self.change { state in
      guard case .running(var run)? = state.items[position]?.activity else { return }
      run.canEndWithoutBody = registration.canEndWithoutBody
      state.items[position]?.activity = .running(run)
    }
    if let found = record.version, found > registration.version {
      return self.holdNewer(ticket, version: found, than: registration.version)
    }
    let end = self.decided(await registration.replay(ticket, record, client), of: position)
    // A journal that resumes by itself makes the call again, until it becomes a dead letter, which is reported.
    if case .held(let error) = end, !self.resumesByItself {
      OperationWarning(
        code: .journalCallFailed,
        severity: .failure,
        message: """
          The call of "\(record.name)" with the key \(record.id) was made again and has failed: \(ShownText.of(error)). It stays in the \
          journal.
          """
      ).report()
    }
    await self.end(ticket, end)
  }

  /// Ends a replay that cannot begin because its arguments are of a later version of the program.
  private func holdNewer(_ ticket: JournalTicket, version: Int, than known: Int) {
    OperationWarning(
      code: .journalVersionUnknown,
      message: """
        The journal has a call of "\(ticket.name)" with the key \(ticket.id) whose arguments have the version \(version), \
        and the mutation is registered with the version \(known). It stays until a program that knows its version makes \
        it, and calls of its scope wait for it. `remove(_:)` removes it.
        """
    ).report()
    self.putBack(ticket, isHeld: true, failure: nil)
    self.send(in: nil) { ticket.notice(.journalUnregistered) }
  }
}

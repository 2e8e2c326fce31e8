internal import FoundationEssentials
internal import OperationCore

/// Identifies a call of a journal that a caller or a replay makes.
struct JournalTicket: Sendable {
  let journal: MutationJournal
  let place: JournalState.Place
  let id: String
  let name: String
  let lane: String?
  let isReplay: Bool
  /// The name of the operation; nil for a replay whose mutation is not registered.
  var operationName: String?
  /// Where the optimistic updates of a replay are among those of other calls; nil if the call had none.
  var layerPlace: StateLayerPlace?
}

// MARK: - Accepting

extension MutationJournal {
  /// Stores a call. When this returns, the call is made even if the process ends.
  ///
  /// Calls of this method determine the order.
  nonisolated(nonsending) func accept(
    _ name: String,
    arguments: String,
    scope: String?,
    key: String?,
    date: Date,
    operationName: String,
    layersAt layerPlace: StateLayerPlace?
  ) async throws -> JournalTicket {
    let record = JournalRecord(
      id: key ?? self.makeKey(),
      name: name,
      scope: scope,
      acceptedAt: date.timeIntervalSinceReferenceDate,
      attempts: 1,
      isSetAside: false,
      arguments: arguments
    )
    let place = self.state.withLock { $0.add(record, layersAt: layerPlace) }
    do {
      let bytes = try StorageCoding.encode(record)
      try await self.load()
      let (storageKey, removals) = self.state.withLock { state -> (String, Set<String>) in
        let key = StorageKey.call(number: state.numberBase + UInt64(place), id: record.id)
        state.items[place]?.storageKey = key
        defer { state.failedRemovals = [] }
        return (key, state.failedRemovals)
      }
      do {
        try await self.storage.apply([.put(key: storageKey, value: bytes)] + removals.sorted().map { .remove(key: $0) })
      } catch {
        // The batch may have been written all the same. The caller receives an error, so the entry must not stay.
        self.state.withLock { $0.failedRemovals.formUnion(removals.union([storageKey])) }
        throw error
      }
    } catch {
      self.leave(place)
      throw error
    }
    self.state.withLock { $0.edit(place) { $0.isStored = true } }
    self.noteChange()
    return JournalTicket(
      journal: self,
      place: place,
      id: record.id,
      name: name,
      lane: scope,
      isReplay: false,
      operationName: operationName
    )
  }

  /// Removes a call from memory, and passes its turn on.
  func leave(_ place: JournalState.Place) {
    let (removed, next) = self.state.withLock { state in
      let removed = state.remove(place)
      return (removed, state.advance(removed?.lane))
    }
    self.perform(next)
    if case .waiting(let continuation, _)? = removed?.activity { continuation.resume(returning: .removed) }
    self.noteChange()
  }

  func perform(_ next: JournalState.Next) {
    switch next {
    case .nothing: break
    case .resume(let continuation): continuation.resume(returning: .granted)
    case .block(let continuations): for continuation in continuations { continuation.resume(returning: .blocked) }
    case .replay(let place):
      Task(name: "replay journal") { await self.replay(place) }
    }
  }
}

// MARK: - Turns

extension MutationJournal {
  /// The turns of the calls around the current task, outermost first.
  @TaskLocal static var turns: [Turn] = []

  struct Turn: Sendable {
    let journal: ObjectIdentifier
    let lane: String
    let place: JournalState.Place
  }

  /// Waits until all earlier calls of the scope have ended, or the current task is cancelled.
  func turn(of ticket: JournalTicket) async -> JournalTurn {
    // A call inside another one of its scope is part of that one.
    let outer = Self.turns.filter { $0.journal == ObjectIdentifier(self) && $0.lane == ticket.lane }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let (turn, next) = self.state.withLock { state -> (JournalTurn?, JournalState.Next) in
          guard state.items[ticket.place] != nil else { return (.removed, .nothing) }
          if let turn = state.items[ticket.place]?.endedEarly {
            state.items[ticket.place]?.endedEarly = nil
            return (turn, .nothing)
          }
          // A task that a call has started may outlive that call.
          let isInside = outer.contains { state.isRunning($0.place) }
          guard isInside || state.hasTurn(ticket.place) else {
            state.items[ticket.place]?.activity = .waiting(continuation, isReplay: ticket.isReplay)
            // Nothing may be making the first call of the lane.
            return (nil, state.advance(ticket.lane))
          }
          state.items[ticket.place]?.activity = .running
          return (.granted, .nothing)
        }
        if let turn { continuation.resume(returning: turn) }
        self.perform(next)
      }
    } onCancel: {
      self.cancelWait(of: ticket)
    }
  }

  private func cancelWait(of ticket: JournalTicket) {
    let continuation = self.state.withLock { state -> JournalState.Continuation? in
      switch state.items[ticket.place]?.activity {
      case .waiting(let continuation, _):
        state.items[ticket.place]?.activity = .claimed(isReplay: ticket.isReplay)
        return continuation
      case .claimed:
        state.items[ticket.place]?.endedEarly = .cancelled
        return nil
      case .running, .some(.none), nil: return nil
      }
    }
    continuation?.resume(returning: .cancelled)
  }

  /// Counts a further attempt of a call in the storage.
  ///
  /// - Parameter change: The change of the number of attempts; -1 for a call that waits.
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

// MARK: - Ends

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
  /// - Parameter context: The context of the run, whose observers are notified; nil for the observers of the client.
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

  /// Removes an entry from the storage. If that fails, the next call that is stored removes it, too.
  nonisolated(nonsending) func removeEntry(_ key: String) async {
    do {
      try await self.storage.apply([.remove(key: key)])
    } catch {
      self.state.withLock { _ = $0.failedRemovals.insert(key) }
      OperationWarning.report(
        storageFailedTo: "remove the journal entry \(key). After a restart it is sent again",
        error
      )
    }
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

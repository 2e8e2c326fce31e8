internal import OperationCore
public import OperationMutation

/// A registered mutation, whose calls a journal can make again.
struct JournalRegistration: Sendable {
  let operationName: String
  /// Makes a call, and returns how it has ended.
  let replay: @Sendable (JournalTicket, _ arguments: [UInt8], OperationClient?) async -> JournalEnd
}

extension MutationJournal {
  /// Registers a mutation, so that the journal can make its calls again.
  ///
  /// Register all mutations at the start of the program, then call ``resume()``.
  ///
  /// - Parameters:
  ///   - mutation: The mutation with the modifiers that its calls are made with. With `.optimistic(on:of:apply:)`
  ///     outside of `.journaled(as:)`, its updates are shown while a call waits.
  ///   - name: The name that its calls are journaled as. It replaces a mutation that was registered with the same name.
  public func register<Mutation: MutationRequest>(_ mutation: Mutation, as name: String)
  where Mutation.Arguments: Codable {
    let isJournaled = Mutation.hasModifier { $0 is any JournaledModifier.Type }
    let registration = JournalRegistration(operationName: mutation.operationName) { ticket, bytes, client in
      let arguments: Mutation.Arguments
      do {
        arguments = try StorageCoding.decode(Mutation.Arguments.self, from: bytes)
      } catch {
        await ticket.journal.setAside(ticket, because: "its arguments cannot be decoded: \(error)")
        return .left
      }
      // A mutation without `.journaled(as:)` does not wait for its turn itself.
      if !isJournaled, let end = await ticket.begin() { return end }
      let store = client.map { $0.store(for: mutation) } ?? .detached(mutation: mutation)
      var context = OperationContext()
      context.operationIdempotencyKey = ticket.id
      context.earlierOptimisticPlace = ticket.layerPlace
      context.journalReplay = JournalReplay(ticket: ticket)
      if !isJournaled { context.pauseObserver = JournalPauses(of: ticket) }
      do throws(Mutation.MutateFailure) {
        try await MutationJournal.inTurn(of: isJournaled ? nil : ticket) { () async throws(Mutation.MutateFailure) in
          _ = try await store.mutate(with: arguments, using: context)
        }
        return .done(failure: nil)
      } catch {
        return ticket.end(after: error, failsForGood: context.journalReplay?.failsForGood(error) ?? false)
      }
    }
    self.registrations.withLock { registrations, released in
      released.append(registrations.updateValue(registration, forKey: name))
    }
  }

  /// Makes the calls that are left of earlier starts of the program, and those that were cancelled or have failed
  /// since.
  ///
  /// The calls of a scope are made one after the other, in the order in which they were accepted. Calls of different
  /// scopes, and calls without one, are made concurrently. They show their optimistic updates from the beginning, below
  /// those of later calls. Each call is made once, with the attempts of its own modifiers. A call that fails stays,
  /// blocks its scope, and is made again by the next ``resume()``, until it is put aside after
  /// ``attemptsBeforeSetAside``. For failures that pass by themselves, use `.waits(until:)` or retries in the mutation.
  ///
  /// It returns when all of them have ended. An entry whose name is not registered or that cannot be read stays, and is
  /// reported. A storage that cannot be read is reported, too.
  public func resume() async {
    do {
      try await self.load()
    } catch {
      OperationWarning.report(storageFailedTo: "read the journal", error)
      return
    }
    self.reportPendingCount()
    let places = self.state.withLock { state in
      var places: [JournalState.Place] = []
      for (place, item) in state.items {
        guard let record = item.record, !record.isSetAside, case .none = item.activity else { continue }
        state.items[place]?.isHeld = false
        places.append(place)
      }
      return places.sorted()
    }
    await withDiscardingTaskGroup { group in
      // Each begins, and shows its optimistic update, before the next one begins.
      for place in places { group.addImmediateTask { await self.replay(place) } }
    }
  }

  /// Makes a call again that was put aside, or is waiting.
  ///
  /// Its attempts are counted from zero. It returns when the call has ended.
  ///
  /// - Parameter id: The identifier of the entry.
  /// - Returns: Whether there is such an entry that can be read.
  @discardableResult
  public func retry(_ id: JournalEntry.ID) async -> Bool {
    do { try await self.load() } catch { return false }
    let place = self.state.withLock { state -> JournalState.Place? in
      guard let place = state.places[id], let record = state.items[place]?.record else { return nil }
      state.edit(place) { item in
        item.record?.attempts = 0
        item.record?.isSetAside = false
        item.isHeld = false
      }
      if record.isSetAside, let lane = record.scope { state.enter(lane, place) }
      return place
    }
    guard let place else { return false }
    self.reportPendingCount()
    await self.replay(place)
    return true
  }
}

extension MutationJournal {
  /// Makes a call again, unless a caller or a replay makes it.
  func replay(_ place: JournalState.Place) async {
    let client = self.boundClient
    let claimed = self.state.withLock { state -> (JournalTicket, JournalRecord)? in
      guard let record = state.items[place]?.record, !record.isSetAside, case .none? = state.items[place]?.activity
      else { return nil }
      state.items[place]?.activity = .claimed(isReplay: true)
      let ticket = JournalTicket(
        journal: self,
        place: place,
        id: record.id,
        name: record.name,
        lane: record.scope,
        isReplay: true,
        layerPlace: state.items[place]?.layerPlace
      )
      return (ticket, record)
    }
    guard let claimed else { return }
    var ticket = claimed.0
    let record = claimed.1
    let registration = self.registrations.withLock { $0[record.name] }
    ticket.operationName = registration?.operationName
    if record.attempts >= self.attemptsBeforeSetAside {
      return await self.setAside(ticket, because: "it was begun \(record.attempts) times and has not ended")
    }
    guard let registration else { return self.holdUnregistered(ticket) }
    let end = await registration.replay(ticket, Array(record.arguments.utf8), client)
    if case .held(let error) = end {
      OperationWarning(
        code: .journalCallFailed,
        severity: .failure,
        message: """
          The call of "\(record.name)" with the key \(record.id) was made again and has failed: \(error). It stays in the \
          journal.
          """
      ).report()
    }
    await self.end(ticket, end)
  }

  /// Ends a replay that cannot begin because no mutation is registered. `resume()` tries again.
  private func holdUnregistered(_ ticket: JournalTicket) {
    OperationWarning(
      code: .journalNameUnregistered,
      message: """
        The journal has a call of "\(ticket.name)" with the key \(ticket.id), and no mutation is registered with that \
        name. It stays, and calls of its scope wait for it. Call `register(_:as:)` before `resume()`, or `remove(_:)`.
        """
    ).report()
    let next = self.state.withLock { state in
      state.items[ticket.place]?.activity = .none
      state.items[ticket.place]?.isHeld = true
      return state.advance(ticket.lane)
    }
    self.perform(next)
    self.send(in: nil) { ticket.notice(.journalUnregistered) }
  }
}

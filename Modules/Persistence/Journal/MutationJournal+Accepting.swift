internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// A call that is to be stored.
struct JournalRequest: Sendable {
  let name: String
  let arguments: StoredBytes
  /// The version of the arguments.
  let version: Int
  let scope: String?
  /// The key that the caller has chosen; nil for a new one.
  let key: String?
  let date: Date
  let operationName: String
  /// The position of its optimistic updates among the updates of other calls; nil if it has none.
  let layerPlace: StateLayerPlace?
  /// Whether its body begins as soon as it has its turn.
  let beginsAtOnce: Bool
  /// Whether its run can end without a body.
  let canEndWithoutBody: Bool
  /// The optimistic updates of its run; nil if it has none.
  let callUpdates: CallUpdates?
  /// How long after now it can be made; nil for any time.
  let lifetime: Duration?
  /// Whether later calls of its scope are made once it is a dead letter.
  let letsPass: Bool
  /// The version that it is based on; nil if its caller has named none.
  let base: String?
  /// The subject of a call that can replace other calls; nil for a call that cannot.
  let mergeKey: String?
  /// Merges the call with the call of a record. Returns nil to make both.
  let merge: (@Sendable (JournalRecord) throws -> MergedCall?)?
  /// The schedule of the call, and its time; nil for a call of a caller.
  var schedule: ScheduledTime?
}

/// The arguments of one call that replaces two calls.
struct MergedCall: Sendable {
  let bytes: StoredBytes
  let arguments: any Sendable
  /// The version that the call is based on.
  let base: String?
}

extension MutationJournal {
  /// Stores a call. When this returns, the call is made even if the process ends.
  ///
  /// The reservation determines the order; without one, the calls of this method do.
  ///
  /// - Parameters:
  ///   - request: The call.
  ///   - reservation: The position that the call has taken; nil to take one now.
  /// - Returns: The ticket of the call.
  /// - Throws: A ``JournalError`` if another call has the key; otherwise the error of the encoding or of the storage.
  nonisolated(nonsending) func accept(
    _ request: JournalRequest,
    at reservation: JournalReservation? = nil
  ) async throws -> JournalTicket {
    guard let reservation = reservation ?? self.reserve(request) else {
      throw JournalError.duplicateKey(request.key ?? self.makeKey(), request.name)
    }
    let (position, updates) = (reservation.position, reservation.updates)
    var id = reservation.id
    var merged: MergedCall?
    do {
      let isAlive = self.lease?.lastsLong(at: self.deadlines.elapsed) ?? true
      var write: JournalWrite?
      switch self.change({ $0.arrive(at: position, beginsAtOnce: request.beginsAtOnce, isAlive: isAlive) }) {
      case .refused: throw JournalError.ended(.removed, request.name)
      case .stores(let begun): write = begun
      case .waits:
        merged = try await self.prepareToStore(position, request)
        write = self.change { $0.store(position, beginsAtOnce: request.beginsAtOnce) }
      }
      // The key belongs to a call of an earlier start.
      while write == nil, let next = self.nextKey(after: id, for: request) {
        id = next
        write = self.change { $0.rekey(position, next) ? $0.store(position, beginsAtOnce: request.beginsAtOnce) : nil }
      }
      guard let write else { throw JournalError.duplicateKey(id, request.name) }
      do {
        try await write.value()
      } catch let error as JournalEntryChanged {
        guard merged != nil else { throw error }
        // Another process has sent the earlier call, or has changed it. The call is stored by itself.
        merged = nil
        try await self.change { $0.storeUnmerged(position, request) }?.value()
      }
    } catch is JournalEntryChanged {
      // Another process has stored a call with the key.
      self.change { $0.remove(position) }
      throw JournalError.duplicateKey(id, request.name)
    } catch {
      self.change { state in
        // The batch may have been written despite the error that the caller receives, so the entry is removed. If that of a
        // merged call was written, it is the only one that the earlier call has left, so it stays.
        if state.items[position]?.phase.acceptance?.replaced == nil { state.noteMayBeStored(position) }
        state.remove(position)
      }
      throw error
    }
    let (replacedUpdates, result, isRefused) = self.change { state in
      (state.accept(position), state.items[position]?.result, state.items[position]?.phase.isRefused == true)
    }
    replacedUpdates?.end()
    if isRefused { throw JournalError.ended(.removed, request.name) }
    if let merged { request.callUpdates?.show(with: merged.arguments) }
    self.setExpiry(of: position, after: request.lifetime)
    return JournalTicket(
      journal: self,
      position: position,
      id: id,
      name: request.name,
      scope: request.scope,
      isReplay: false,
      operationName: request.operationName,
      updates: updates,
      result: result ?? JournalResult(),
      arguments: merged?.arguments,
      base: merged == nil ? request.base : merged?.base
    )
  }

  /// Waits for what has to be known before a call is stored, and merges it with the call that it replaces.
  ///
  /// - Returns: What the call has become; nil if it replaces none.
  private nonisolated(nonsending) func prepareToStore(
    _ position: JournalState.Position,
    _ request: JournalRequest
  ) async throws -> MergedCall? {
    try await self.load()
    // This comes before the call is stored. Other processes would otherwise believe that the process of the call has
    // ended.
    try await self.lease?.keepAlive(for: self)
    if self.lease != nil { await self.waitToStore(position) }
    guard let merged = try await self.merge(position, request) else { return nil }
    self.change { state in
      state.edit(position) { item in
        item.record?.storedArguments = merged.bytes
        item.record?.base = merged.base
      }
    }
    return merged
  }

  /// Waits until the earlier calls of the scope are stored, or will be stored together with this call. A process that
  /// takes the calls over must not find a later call without an earlier one.
  nonisolated(nonsending) func waitToStore(_ position: JournalState.Position) async {
    while let signal = self.change({ $0.signalOfEarlierCall(than: position) }) { await signal.value() }
  }

  /// Merges a new call with the call that it replaces. Returns nil if it replaces none.
  private nonisolated(nonsending) func merge(
    _ position: JournalState.Position,
    _ request: JournalRequest
  ) async throws -> MergedCall? {
    guard let merge = request.merge else { return nil }
    var mayWaitForLease = true
    while true {
      switch self.change({ [mayWaitForLease] in $0.replacementStep(of: position, mayWaitForLease: mayWaitForLease) }) {
      case .none: return nil
      case .wait(let signal): await signal.value()
      case .waitForLease(let signal):
        await signal.value()
        mayWaitForLease = false
      case .merge(let record):
        if let merged = try merge(record) { return merged }
        self.change { $0.unlink(position) }
        return nil
      }
    }
  }
}

extension MutationJournal {
  /// Takes a position in the order of the calls. Returns nil if another call has the key.
  func reserve(_ request: JournalRequest) -> JournalReservation? {
    let updates = request.layerPlace.map { _ in KeptUpdates() }
    var id = request.key ?? self.makeKey()
    var added = self.add(request, id, updates)
    while added == nil, let next = self.nextKey(after: id, for: request) {
      id = next
      added = self.add(request, id, updates)
    }
    return added.map { JournalReservation(position: $0, id: id, updates: updates) }
  }

  private func add(_ request: JournalRequest, _ id: String, _ updates: KeptUpdates?) -> JournalState.Position? {
    // The time of a scheduled call counts from when it is due.
    let start = request.schedule?.date ?? request.date.timeIntervalSinceReferenceDate
    let record = JournalRecord(
      id: id,
      name: request.name,
      scope: request.scope,
      acceptedAt: request.date.timeIntervalSinceReferenceDate,
      attempts: 0,
      isDeadLetter: false,
      arguments: request.arguments.text,
      failures: 0,
      isBegun: false,
      owner: self.lease?.owner,
      mergeKey: request.mergeKey,
      expiresAt: request.lifetime.map { start + $0.seconds },
      lifetime: request.lifetime?.seconds,
      argumentBytes: request.arguments.base64,
      version: request.version == 1 ? nil : request.version,
      base: request.base,
      letsPass: request.letsPass ? true : nil,
      schedule: request.schedule?.name,
      dueAt: request.schedule?.date
    )
    return self.change { state in
      state.add(
        record,
        layersAt: request.layerPlace,
        updates: updates,
        callUpdates: request.callUpdates,
        canEndWithoutBody: request.canEndWithoutBody
      )
    }
  }

  /// Returns another key for a call with a key that is taken; nil if the caller has chosen the key, or if the keys
  /// repeat.
  private func nextKey(after key: String, for request: JournalRequest) -> String? {
    guard request.key == nil else { return nil }
    let next = self.makeKey()
    return next == key ? nil : next
  }
}

extension JournalState {
  /// What happens to a call whose run has come.
  fileprivate enum Arrival: Sendable {
    /// The call was removed before.
    case refused
    /// The call is being stored.
    case stores(JournalWrite)
    /// The call waits for something before it can be stored.
    case waits
  }

  /// Notes that the run of a call has come, and begins to store the call if nothing delays that.
  ///
  /// - Parameters:
  ///   - position: The call.
  ///   - beginsAtOnce: Whether its body begins as soon as it has its turn.
  ///   - isAlive: Whether other processes know for a while that this one lives.
  /// - Returns: What happens to the call.
  fileprivate mutating func arrive(at position: Position, beginsAtOnce: Bool, isAlive: Bool) -> Arrival {
    self.items[position]?.phase.arrive()
    guard let item = self.items[position] else { return .waits }
    if item.phase.isRefused { return .refused }
    let earlier = item.scope.flatMap { self.scopes[$0]?.unnumbered(before: position) }
    guard isAlive, self.loading == .loaded, item.phase.acceptance?.replaced == nil, earlier == nil,
      let write = self.store(position, beginsAtOnce: beginsAtOnce)
    else { return .waits }
    return .stores(write)
  }

  /// Gives a new call another key. Returns false if the other key is taken, too.
  fileprivate mutating func rekey(_ position: Position, _ id: String) -> Bool {
    guard self.positions[id] == nil, let item = self.items[position] else { return false }
    if self.positions[item.id] == position { self.positions[item.id] = nil }
    self.positions[id] = position
    self.edit(position) { item in
      item.id = id
      item.record?.id = id
    }
    return true
  }

  /// An event that occurs when an earlier call of the scope is being stored, or turns out not to be stored; nil if all
  /// earlier calls are.
  fileprivate mutating func signalOfEarlierCall(than position: Position) -> AwaitedOutcome<Void>? {
    guard let scope = self.items[position]?.scope, let earlier = self.scopes[scope]?.unnumbered(before: position)
    else { return nil }
    let signal = AwaitedOutcome<Void>()
    self.items[earlier]?.phase.acceptance?.storeWaiters.append(signal)
    return signal
  }

  /// Stores a new call without merging it with the call that it was to replace.
  fileprivate mutating func storeUnmerged(_ position: Position, _ request: JournalRequest) -> JournalWrite? {
    self.edit(position) { item in
      item.record?.storedArguments = request.arguments
      item.record?.base = request.base
    }
    self.unlink(position)
    return self.write(position)
  }

  /// Notes that a call which is not made may be stored, because storing it has failed in a way that does not exclude that: its answer
  /// may have been lost. One of the next writes removes its entry.
  mutating func noteMayBeStored(_ position: Position) {
    guard let item = self.items[position], item.attempted != nil else { return }
    self.failedRemovals.add(item.storageKey, EntryRemoval(seen: nil, revision: nil))
  }

  /// Begins to store a new call. Returns nil if a call of an earlier start has its key.
  mutating func store(_ position: Position, beginsAtOnce: Bool) -> JournalWrite? {
    guard let item = self.items[position], self.positions[item.id] == position else { return nil }
    let key = StorageKey.call(number: self.numberBase + UInt64(position), id: item.id)
    let isFirst = beginsAtOnce && self.maySend(position) && self.hasTurn(position)
    self.actions.signals += item.phase.acceptance?.storeWaiters ?? []
    self.edit(position) { item in
      item.storageKey = key
      item.phase.acceptance?.storeWaiters = []
      guard isFirst else { return }
      // This saves one write for a call that nothing delays.
      item.record?.attempts = 1
      item.record?.isBegun = true
      item.bodies = .counted
    }
    return self.write(position)
  }
}

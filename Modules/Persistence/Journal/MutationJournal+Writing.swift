internal import OperationCore
internal import OperationMutation

extension MutationJournal {
  /// Changes the state, and performs the resulting actions without the lock.
  ///
  /// - Parameters:
  ///   - isImmediate: Whether replays begin before this returns.
  ///   - body: Changes the state, with the lock held.
  /// - Returns: What `body` returns.
  func change<R: Sendable>(isImmediate: Bool = false, _ body: (inout JournalState) -> R) -> R {
    var actions = JournalActions()
    let result = self.state.withLock { state -> R in
      let result = body(&state)
      state.takeActions(&actions)
      return result
    }
    self.perform(&actions, isImmediate: isImmediate)
    return result
  }

  private func perform(_ actions: inout JournalActions, isImmediate: Bool) {
    if !actions.expiring.isEmpty { self.setExpiry(of: actions.expiring) }
    for updates in actions.ended { updates.end() }
    for updates in actions.endedInRuns { updates.end() }
    // This comes before the runs that wait for the change of the stores continue.
    if actions.changesStores { actions.signals += self.notifyStores() }
    self.updatePauses(of: actions.blocked)
    self.updatePauses(of: actions.unblocked)
    // This comes before the runs of these callers continue.
    self.updatePauses(of: actions.callers)
    // These come before the runs of their calls continue, which find their calls gone, and would take them for removed.
    for (result, error) in actions.results { result.decide(.failure(error), isFinal: true) }
    for (result, error) in actions.stoppedResults { result.decide(.failure(error), isFinal: false) }
    for (continuation, turn) in actions.turns { continuation.resume(returning: turn) }
    for signal in actions.signals { signal.decide() }
    for write in actions.writes { write.finish(.success(())) }
    for write in actions.refusedRemovals { write.finish(.failure(JournalEntryChanged())) }
    for task in actions.cancelled { task.cancel() }
    for caller in actions.blocked { caller.context.send(caller.ticket.notice(.journalBlocked)) }
    if actions.beginsWriting {
      // The task of a caller may be cancelled, so the changes are written in another one. A storage that does not
      // suspend has answered when this returns.
      Task.immediate(name: "write journal", executorPreference: self.executor) { await self.writeAll() }
    }
    for replay in actions.replays { self.begin(replay, isImmediate: isImmediate) }
    for position in actions.resumable { self.resumeByItself(.call(position)) }
    for name in actions.schedules { self.checkSchedule(named: name) }
    if let lease, actions.needsLease || actions.mayRelease { lease.note(actions, for: self) }
    if let timer = actions.timer { self.apply(timer) }
    if actions.isChanged { self.noteChange() }
  }

  /// Writes all changes, in the order in which their entries were changed first. Only one task at a time writes.
  private nonisolated(nonsending) func writeAll() async {
    while true {
      guard let batch = self.nextBatch() else { return }
      var (results, obstacle) = batch.isCrowded ? await self.storeCrowded(batch) : await self.store(batch)
      await self.readMerged(batch, &results)
      self.finish(batch, results)
      guard let obstacle else { continue }
      // What waits meanwhile would fail in the same way, one batch after the other.
      while let next = self.nextBatch() {
        self.finish(next, next.contents.map { _ in .failed(obstacle, attempted: nil) })
      }
      return
    }
  }

  /// Takes the next changes to write; nil if there are none.
  private func nextBatch() -> JournalBatch? {
    guard let lease else { return self.state.withLock { $0.nextBatch(holds: nil) } }
    // The time is read for each batch, because a storage may take longer than a lease lasts.
    let now = self.deadlines.elapsed
    return self.state.withLock { $0.nextBatch { lease.holds($0, at: now) } }
  }

  private func finish(_ batch: JournalBatch, _ results: [JournalBatch.Result]) {
    let finished = self.change { $0.didWrite(batch, results) }
    for (write, error) in finished { write.finish(error.map { .failure($0) } ?? .success(())) }
  }

  /// Applies a batch, with its new calls only if a removal that has failed before is made now. Otherwise there is no end to the calls
  /// that may be stored and are to be removed.
  ///
  /// - Returns: The same as ``store(_:)``.
  private nonisolated(nonsending) func storeCrowded(
    _ batch: JournalBatch
  ) async -> (results: [JournalBatch.Result], obstacle: StorageError?) {
    var rest = batch
    let removal = rest.contents.removeLast()
    rest.removals.removeLast()
    let removed = await self.store(EncodedContent(content: removal, bytes: nil), mayBeMade: false)
    guard case .failed(let error, _) = removed else {
      let (results, obstacle) = await self.store(rest)
      return (results + [removed], obstacle)
    }
    let contents = rest.contents
    rest.contents.removeAll(where: \.isNew)
    let (results, obstacle) = await self.store(rest)
    var known = results[...]
    return (contents.map { $0.isNew ? .failed(error, attempted: nil) : known.removeFirst() } + [removed], obstacle)
  }

  /// Applies a batch. If that fails, or if another process has changed an entry, applies each change by itself, because
  /// the others may succeed, unless the error concerns the whole storage.
  ///
  /// - Returns: What has become of each content, and the error that concerns the whole storage; nil if there is none.
  private nonisolated(nonsending) func store(
    _ batch: JournalBatch
  ) async -> (results: [JournalBatch.Result], obstacle: StorageError?) {
    let encoded = batch.contents.map { content in Result { try content.bytes } }
    let contents = zip(batch.contents, encoded).filter { (try? $1.get()) != nil || $0.record == nil }
      .map { EncodedContent(content: $0, bytes: try? $1.get()) }
    if contents.count == batch.contents.count, contents.count > 1 {
      let conditions = contents.flatMap(\.conditions)
      do {
        let outcome = try await self.storage.apply(contents.flatMap(\.changes), if: conditions)
        if outcome == .made { return (contents.map { .made($0.version) }, nil) }
      } catch {
        guard let obstacle = error.asObstacle else { return await self.storeEach(batch, encoded, mayBeMade: true) }
        return (contents.map { .failed(error, attempted: error.excludesChanges ? nil : $0.version) }, obstacle)
      }
    }
    return await self.storeEach(batch, encoded, mayBeMade: false)
  }

  /// Applies each change of a batch by itself.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - encoded: The bytes of its contents.
  ///   - mayBeMade: Whether they may have been stored together before.
  /// - Returns: The same as ``store(_:)``.
  private nonisolated(nonsending) func storeEach(
    _ batch: JournalBatch,
    _ encoded: [Result<[UInt8]?, any Error>],
    mayBeMade: Bool
  ) async -> (results: [JournalBatch.Result], obstacle: StorageError?) {
    var results: [JournalBatch.Result] = []
    var obstacle: StorageError?
    // An obstacle, or the failure of a removal that has failed before. The storage does not work yet then, and the other removals would
    // cost a try each, which only those who wait for them are worth.
    var end: (any Error)?
    let firstRemoval = batch.contents.count - batch.removals.count
    for (index, (content, bytes)) in zip(batch.contents, encoded).enumerated() {
      if let end {
        let version = (try? bytes.get()).flatMap { EncodedContent(content: content, bytes: $0).version }
        results.append(.failed(end, attempted: mayBeMade ? version : nil))
        continue
      }
      switch bytes {
      case .success(let bytes):
        results.append(await self.store(EncodedContent(content: content, bytes: bytes), mayBeMade: mayBeMade))
      case .failure(let error): results.append(.failed(error, attempted: nil))
      }
      guard case .failed(let error, _)? = results.last else { continue }
      obstacle = error.asObstacle
      end = obstacle ?? (index >= firstRemoval && batch.waiters.isEmpty ? error : nil)
    }
    return (results, obstacle)
  }

  /// Takes merged calls for stored whose storing has failed, if they are stored all the same, because only the answer was lost.
  ///
  /// The earlier call is gone then: were the later one refused, both would be lost.
  private nonisolated(nonsending) func readMerged(_ batch: JournalBatch, _ results: inout [JournalBatch.Result]) async {
    for (index, content) in batch.contents.enumerated() where content.replaced != nil {
      guard case .failed(_, let version?) = results[index] else { continue }
      // A storage that cannot be read either keeps what it has, see `MutationJournal.accept(_:)`.
      guard let entry = try? await self.storage.call(with: content.key) else { return }
      if entry.version == version { results[index] = .made(version) }
    }
  }

  /// Stores one content, unless another process has changed what it was decided for.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - mayBeMade: Whether an earlier try may have stored it.
  /// - Returns: What has become of it.
  private nonisolated(nonsending) func store(
    _ content: EncodedContent,
    mayBeMade: Bool
  ) async -> JournalBatch.Result {
    var content = content
    do {
      while true {
        let outcome = try await self.storage.apply(content.changes, if: content.conditions)
        guard case .refused(let condition) = outcome else { return .made(content.version) }
        let entry = try await self.storage.call(with: StorageKey.call(ofAttempts: condition.key) ?? condition.key)
        // An earlier try has written it, and has failed all the same.
        if let version = content.version, entry.key == content.content.key, entry.version == version {
          return .made(version)
        }
        guard content.content.appliesAnyhow(to: entry) else { return .refused(entry) }
        // The numbers of attempts belong to the entry that they were decided for.
        if content.content.isOfAttempts, content.content.seen?.entry != entry.version?.entry { return .refused(entry) }
        content.content.seen = entry.version
      }
    } catch {
      return .failed(error, attempted: mayBeMade || !error.excludesChanges ? content.version : nil)
    }
  }

  /// A content with its bytes.
  private struct EncodedContent: Sendable {
    var content: JournalBatch.Content
    /// The bytes; nil to remove the entry.
    let bytes: [UInt8]?

    /// The version that the call has once the content is stored; nil if it is removed.
    var version: CallVersion? {
      guard let bytes else { return nil }
      let key = self.content.key
      guard self.content.isOfAttempts, let seen = self.content.seen else { return CallVersion(of: bytes, at: key) }
      return CallVersion(seen, attempts: StorageVersion(of: bytes, at: StorageKey.attempts(ofCall: key)))
    }

    /// All changes are applied or none: a call must not be lost with the call that replaces it.
    var changes: [StorageChange] {
      let (key, seen) = (self.content.key, self.content.seen)
      guard let bytes else { return StorageChange.removals(ofCall: key, seen) }
      if self.content.isOfAttempts { return [.put(key: StorageKey.attempts(ofCall: key), value: bytes)] }
      // The entry has the numbers of its attempts itself.
      let outdated = seen?.attempts.map { _ in StorageChange.remove(key: StorageKey.attempts(ofCall: key)) }
      let removals = self.content.replaced.map { StorageChange.removals(ofCall: $0.key, $0.seen) } ?? []
      return [.put(key: key, value: bytes)] + removals + [outdated, self.content.step?.change].compactMap(\.self)
    }

    var conditions: [StorageCondition] {
      let content = self.content
      let own =
        content.isNew ? [.absent(key: content.key)] : StorageCondition.unchanged(call: content.key, content.seen)
      let other = content.replaced.map { StorageCondition.unchanged(call: $0.key, $0.seen) } ?? []
      return own + other + (content.step?.conditions ?? [])
    }
  }
}

extension JournalBatch.Content {
  /// The bytes to store; nil to remove the entry.
  ///
  /// - Throws: The error of the encoding.
  fileprivate var bytes: [UInt8]? {
    get throws {
      guard let record = self.record else { return nil }
      if self.isOfAttempts, let seen { return try AttemptsRecord(record, of: seen.entry).encoded() }
      return try record.write()
    }
  }
}

extension StorageChange {
  /// What removes a call and its attempts.
  fileprivate static func removals(ofCall key: String, _ seen: CallVersion?) -> [Self] {
    let attempts = seen?.attempts.map { _ in Self.remove(key: StorageKey.attempts(ofCall: key)) }
    return [.remove(key: key)] + [attempts].compactMap(\.self)
  }
}

extension StorageCondition {
  /// What holds as long as a call and its attempts are as they were seen.
  ///
  /// Each write or removal of an entry removes its attempts in the same step. So its own attempts are enough to compare, and a
  /// database need not look at long arguments.
  fileprivate static func unchanged(call key: String, _ seen: CallVersion?) -> [Self] {
    guard let seen else { return [] }
    if let attempts = seen.attempts {
      let own = Self.unchanged(key: StorageKey.attempts(ofCall: key), attempts)
      return seen.areAttemptsOwn ? [own] : [.unchanged(key: key, seen.entry), own]
    }
    let absent = seen.isLong ? [Self.absent(key: StorageKey.attempts(ofCall: key))] : []
    return [.unchanged(key: key, seen.entry)] + absent
  }
}

extension JournalState {
  /// Moves the actions of a change out of the state, into an empty value.
  // Inlined into every change of the state, it makes up a twentieth of the code of the module.
  @inline(never)
  fileprivate mutating func takeActions(_ actions: inout JournalActions) {
    self.actions.changesStores = self.view.hasChanges
    self.deferSignals()
    self.actions.timer = self.takeTimerChange()
    // They have many fields, each of which a copy would retain.
    swap(&actions, &self.actions)
  }

  private static var maximumBatch: Int { 256 }
  /// How many removals that have failed before are tried with the next changes.
  private static var maximumRemovals: Int { 32 }

  /// Queues a call to be written, with the content that it has at that time.
  ///
  /// So changes of a call are written in their order, and nothing is written after a removal.
  ///
  /// - Parameters:
  ///   - position: The call.
  ///   - isOfAttempts: Whether nothing but the numbers of its attempts has changed.
  /// - Returns: The result of the write; nil if there is nothing to write.
  mutating func write(_ position: Position, isOfAttempts: Bool = false) -> JournalWrite? {
    guard let item = self.items[position], !item.isUnnumbered, item.record != nil || item.isGone,
      // The entry must not come back.
      !item.phase.isTakenOver
    else { return nil }
    guard let (write, isQueuedAnew) = self.items[position]?.changes.add(isOfAttempts: isOfAttempts) else { return nil }
    if isQueuedAnew { self.queue.append(position) }
    self.beginWriting()
    return write
  }

  /// Queues the removals that have failed.
  ///
  /// - Returns: An event that occurs when they were tried; nil if there are none.
  mutating func writeRemovals() -> AwaitedOutcome<Void>? {
    guard !self.failedRemovals.isEmpty || !self.removalWaiters.isEmpty || self.areRemovalsUnderWay else { return nil }
    let signal = AwaitedOutcome<Void>()
    self.removalWaiters.append(signal)
    self.beginWriting()
    return signal
  }

  /// Queues a call again that was passed over because it was about to be replaced.
  mutating func enqueueAgain(_ position: Position) {
    if !self.queue.contains(position) { self.queue.append(position) }
    self.beginWriting()
  }

  private mutating func beginWriting() {
    if !self.isWriting { self.actions.beginsWriting = true }
    self.isWriting = true
  }

  /// Takes the next changes to write.
  ///
  /// - Parameter holds: Whether this process has a lease; nil if no other process can send.
  /// - Returns: The changes; nil if there are none.
  fileprivate mutating func nextBatch(holds: ((JournalLeaseKey) -> Bool)?) -> JournalBatch? {
    var batch = JournalBatch()
    let positions = self.queue.prefix(Self.maximumBatch)
    for position in positions {
      // A call that is about to be replaced is passed over, because its write must not come after its removal. But its
      // acceptance is written first.
      guard let item = self.items[position], item.replacement == nil || !item.isStored else { continue }
      // If there are none, they were refused, because another process has changed its entry.
      guard self.items[position]?.changes.begin() == true else { continue }
      batch.calls.append((position, item.storageKey, item.changes.count))
      if let holds, !item.mayBeStored(holds) {
        batch.skipped.insert(item.storageKey)
        continue
      }
      var content = item.content
      if let acceptance = item.phase.acceptance, let position = acceptance.replaced,
        let replaced = self.items[position]
      {
        content.replaced = (position, replaced.storageKey, acceptance.replacedVersion)
      }
      batch.contents.append(content)
    }
    self.queue.removeFirst(positions.count)
    // A removal that fails again waits for the next change.
    self.isWriting = !positions.isEmpty || !self.removalWaiters.isEmpty || self.goesOnRemoving
    if self.isWriting {
      batch.isCrowded = self.failedRemovals.count >= FailedRemovals.maximum && batch.contents.contains(where: \.isNew)
      batch.removals = self.failedRemovals.take(self.removalWaiters.isEmpty ? Self.maximumRemovals : .max)
      self.areRemovalsUnderWay = !batch.removals.isEmpty
      for (key, removal) in batch.removals {
        batch.contents.append(JournalBatch.Content(key: key, record: nil, seen: removal.seen, removal: removal))
      }
    }
    batch.waiters = self.removalWaiters
    self.removalWaiters = []
    return self.isWriting ? batch : nil
  }

  /// Records the results of a batch, and returns the results of the writes that it includes.
  mutating func didWrite(
    _ batch: JournalBatch,
    _ results: [JournalBatch.Result]
  ) -> [(JournalWrite, (any Error)?)] {
    var finished: [(JournalWrite, (any Error)?)] = []
    self.actions.signals += batch.waiters
    let indices = Dictionary(zip(batch.contents.map(\.key), batch.contents.indices), uniquingKeysWith: { $1 })
    self.areRemovalsUnderWay = false
    let failed = batch.removals.filter { key, _ in
      if let index = indices[key], case .failed = results[index] { true } else { false }
    }
    self.failedRemovals.putBack(failed)
    self.goesOnRemoving = failed.isEmpty && !batch.removals.isEmpty && !self.failedRemovals.isEmpty
    for (position, key, version) in batch.calls {
      var failure: (any Error)? = batch.skipped.contains(key) ? JournalLeaseLost() : nil
      if let index = indices[key], failure == nil {
        let content = batch.contents[index]
        switch results[index] {
        case .made(let stored):
          self.noteReplacedVersion(stored, at: position)
          self.items[position]?.seen = stored
          self.items[position]?.attempted = nil
          if !content.isOfAttempts, content.record != nil { self.items[position]?.changes.noteStored(version) }
        case .failed(let error, let attempted):
          failure = error
          if let attempted { self.items[position]?.attempted = attempted }
        case .refused(let entry):
          failure = JournalEntryChanged()
          if let replaced = content.replaced, replaced.key == entry.key {
            finished += self.adopt(entry, at: replaced.position)
          } else if !content.isNew {
            finished += self.adopt(entry, at: position)
          }
        }
      }
      finished += (self.items[position]?.changes.end(upTo: version) ?? []).map { ($0, failure) }
    }
    return finished
  }
}

extension JournalState.Item {
  /// Whether decisions about it may be stored while it is being made.
  ///
  /// If this process has lost the lease, another process may have made it and removed its entry.
  fileprivate func mayBeStored(_ holds: (JournalLeaseKey) -> Bool) -> Bool {
    guard self.isStored, !self.isGone else { return true }
    if self.phase.isTakenOver { return false }
    return !self.activity.isRunning || holds(self.leaseKey)
  }

  /// What is to be stored of it, without the call that it replaces.
  fileprivate var content: JournalBatch.Content {
    var content = JournalBatch.Content(
      key: self.storageKey,
      record: self.isGone ? nil : self.expiry.record ?? self.record,
      isNew: !self.isStored,
      seen: self.seen,
      attempted: self.attempted
    )
    content.step = self.phase.acceptance?.step
    if self.isGone { content.removal = self.removal }
    content.isOfAttempts = self.isStored && !self.isGone && self.seen?.isLong == true && self.changes.areOfAttempts
    return content
  }

  /// Which entries are removed when it has ended, or when the user removes it.
  var removal: EntryRemoval {
    let revision = if case .removing(let removal) = self.phase { removal.revision } else { self.record?.revision ?? 0 }
    return EntryRemoval(seen: self.seen, revision: revision)
  }
}

extension Error {
  /// Whether a storage that throws the error has certainly made none of the changes, also one behind a network.
  ///
  /// A storage says so by any error. But an answer that is lost on its way, or comes too late, is one of `failed`, `cannotOpen` or
  /// `busy`, and the changes may have been made.
  fileprivate var excludesChanges: Bool {
    guard let error = self as? StorageError else { return false }
    switch error.code {
    case .full, .readOnly, .closed, .notADatabase, .newerSchema: return true
    default: return false
    }
  }
}

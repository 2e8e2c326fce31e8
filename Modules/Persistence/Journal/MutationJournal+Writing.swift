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
    let (result, taken) = self.state.withLock { state -> (R, JournalActions) in
      let result = body(&state)
      state.actions.changesStores = state.view.hasChanges
      state.deferSignals()
      state.actions.timer = state.takeTimerChange()
      defer { state.actions = JournalActions() }
      return (result, state.actions)
    }
    var actions = taken
    for updates in actions.ended { updates.end() }
    for updates in actions.endedInRuns { updates.end() }
    // This comes before the runs that wait for the change of the stores continue.
    if actions.changesStores { actions.signals += self.notifyStores() }
    self.updatePauses(of: actions.blocked)
    self.updatePauses(of: actions.unblocked)
    // This comes before the runs of these callers continue.
    self.updatePauses(of: actions.callers)
    for (continuation, turn) in actions.turns { continuation.resume(returning: turn) }
    for signal in actions.signals { signal.decide() }
    for (fate, error) in actions.fates { fate.decide(.failure(error), isFinal: true) }
    for (fate, error) in actions.stoppedFates { fate.decide(.failure(error), isFinal: false) }
    for write in actions.writes { write.finish(.success(())) }
    for task in actions.cancelled { task.cancel() }
    for caller in actions.blocked { caller.context.send(caller.ticket.notice(.journalBlocked)) }
    if actions.beginsWriting {
      // The task of a caller may be cancelled, so the changes are written in another one. A storage that does not
      // suspend has answered when this returns.
      Task.immediate(name: "write journal", executorPreference: self.executor) { await self.writeAll() }
    }
    for place in actions.replays { self.begin(place, isImmediate: isImmediate) }
    for place in actions.resumable { self.resumeByItself(.call(place)) }
    for name in actions.schedules { self.checkSchedule(named: name) }
    if actions.needsLease { self.lease?.wake(for: self) }
    if let timer = actions.timer { self.apply(timer) }
    if actions.isChanged { self.noteChange() }
    return result
  }

  /// Writes all changes, in the order in which their entries were changed first. Only one task at a time writes.
  private nonisolated(nonsending) func writeAll() async {
    while true {
      // The rights are read for each batch, because a storage may take longer than a lease lasts.
      let held = self.lease?.heldRights(at: self.deadlines.elapsed)
      guard let batch = self.state.withLock({ $0.nextBatch(holding: held) }) else { return }
      let (results, obstacle) = await self.store(batch)
      self.finish(batch, results)
      guard let obstacle else { continue }
      // What waits meanwhile would fail in the same way, one batch after the other.
      while let next = self.state.withLock({ $0.nextBatch(holding: held) }) {
        self.finish(next, next.contents.map { _ in .failed(obstacle, attempted: nil) })
      }
      return
    }
  }

  private func finish(_ batch: JournalBatch, _ results: [JournalBatch.Result]) {
    let finished = self.change { $0.didWrite(batch, results) }
    for (write, error) in finished { write.finish(error.map { .failure($0) } ?? .success(())) }
  }

  /// Applies a batch. If that fails, or if another process has changed an entry, applies each change by itself, because
  /// the others may succeed, unless the error concerns the whole storage.
  ///
  /// - Returns: What has become of each content, and the error that concerns the whole storage; nil if there is none.
  private nonisolated(nonsending) func store(
    _ batch: JournalBatch
  ) async -> (results: [JournalBatch.Result], obstacle: StorageError?) {
    let encoded = batch.contents.map { content in Result { try content.record?.write() } }
    let contents = zip(batch.contents, encoded).filter { (try? $1.get()) != nil || $0.record == nil }
      .map { EncodedContent(content: $0, bytes: try? $1.get()) }
    if contents.count == batch.contents.count, contents.count > 1 {
      let conditions = contents.flatMap(\.conditions)
      do {
        let outcome = try await self.storage.apply(contents.flatMap(\.changes), if: conditions)
        if outcome == .made { return (contents.map { .made($0.version) }, nil) }
      } catch {
        guard let obstacle = error.asObstacle else { return await self.storeEach(batch, encoded) }
        return (contents.map { .failed(error, attempted: $0.version) }, obstacle)
      }
    }
    return await self.storeEach(batch, encoded)
  }

  private nonisolated(nonsending) func storeEach(
    _ batch: JournalBatch,
    _ encoded: [Result<[UInt8]?, any Error>]
  ) async -> (results: [JournalBatch.Result], obstacle: StorageError?) {
    var results: [JournalBatch.Result] = []
    var obstacle: StorageError?
    for (content, bytes) in zip(batch.contents, encoded) {
      if let obstacle {
        results.append(.failed(obstacle, attempted: nil))
        continue
      }
      switch bytes {
      case .success(let bytes): results.append(await self.store(EncodedContent(content: content, bytes: bytes)))
      case .failure(let error): results.append(.failed(error, attempted: nil))
      }
      if case .failed(let error, _)? = results.last { obstacle = error.asObstacle }
    }
    return (results, obstacle)
  }

  /// Stores one content, unless another process has changed what it was decided for.
  private nonisolated(nonsending) func store(_ content: EncodedContent) async -> JournalBatch.Result {
    var content = content
    do {
      while true {
        let outcome = try await self.storage.apply(content.changes, if: content.conditions)
        guard case .refused(let condition) = outcome else { return .made(content.version) }
        let entry = try await self.storage.entry(with: condition.key)
        // An earlier try has written it, and has failed all the same.
        if let version = content.version, condition.key == content.content.key, entry?.version == version {
          return .made(version)
        }
        guard content.content.appliesAnyhow(to: entry, condition.key) else {
          return .refused(ReadEntry(entry, at: condition.key))
        }
        content.content.seen = entry?.version
      }
    } catch {
      return .failed(error, attempted: content.version)
    }
  }

  /// A content with its bytes.
  private struct EncodedContent: Sendable {
    var content: JournalBatch.Content
    /// The bytes; nil to remove the entry.
    let bytes: [UInt8]?

    var version: StorageVersion? { self.bytes.map { StorageVersion(of: $0, at: self.content.key) } }

    /// Both changes are applied or neither: a call must not be lost with the call that replaces it.
    var changes: [StorageChange] {
      guard let bytes else { return [.remove(key: self.content.key)] }
      let removal = self.content.replaced.map { StorageChange.remove(key: $0.key) }
      let others = [removal, self.content.step?.change].compactMap(\.self)
      return [.put(key: self.content.key, value: bytes)] + others
    }

    var conditions: [StorageCondition] {
      let (content, replaced) = (self.content, self.content.replaced)
      let own: StorageCondition? =
        content.isNew ? .absent(key: content.key) : content.seen.map { .unchanged(key: content.key, $0) }
      let other = replaced.flatMap { call in call.seen.map { StorageCondition.unchanged(key: call.key, $0) } }
      return [own, other].compactMap(\.self) + (content.step?.conditions ?? [])
    }
  }
}

extension JournalState {
  private static var maximumBatch: Int { 256 }

  /// Queues a call to be written, with the content that it has at that time.
  ///
  /// So changes of a call are written in their order, and nothing is written after a removal.
  ///
  /// - Returns: The result of the write; nil if there is nothing to write.
  mutating func write(_ place: Place) -> JournalWrite? {
    guard let item = self.items[place], !item.isUnnumbered, item.record != nil || item.isGone,
      // The entry must not come back.
      !item.isTakenOver
    else { return nil }
    let write = JournalWrite(version: item.version + 1)
    self.items[place]?.version = write.version
    self.items[place]?.writes.append(write)
    self.enqueue(place)
    return write
  }

  /// Queues the removals that have failed.
  ///
  /// - Returns: An event that occurs when they were tried; nil if there are none.
  mutating func writeRemovals() -> AwaitedOutcome<Void>? {
    guard !self.failedRemovals.isEmpty || !self.removalWaiters.isEmpty else { return nil }
    let signal = AwaitedOutcome<Void>()
    self.removalWaiters.append(signal)
    self.beginWriting()
    return signal
  }

  private mutating func enqueue(_ place: Place) {
    if self.items[place]?.isQueued == false {
      self.items[place]?.isQueued = true
      self.queue.append(place)
    }
    self.beginWriting()
  }

  /// Queues a call again that was passed over because it was about to be replaced.
  mutating func enqueueAgain(_ place: Place) {
    if !self.queue.contains(place) { self.queue.append(place) }
    self.beginWriting()
  }

  private mutating func beginWriting() {
    if !self.isWriting { self.actions.beginsWriting = true }
    self.isWriting = true
  }

  /// Takes the next changes to write.
  ///
  /// - Parameter held: The rights that this process has; nil if no other process can send.
  /// - Returns: The changes; nil if there are none.
  mutating func nextBatch(holding held: Set<JournalRight>?) -> JournalBatch? {
    var batch = JournalBatch()
    let places = self.queue.prefix(Self.maximumBatch)
    for place in places {
      // A call that is about to be replaced is passed over, because its write must not come after its removal. But its
      // acceptance is written first.
      guard let item = self.items[place], item.replacement == nil || !item.isStored else { continue }
      self.items[place]?.isQueued = false
      // Its changes were refused, because another process has changed its entry.
      if item.writes.isEmpty { continue }
      batch.calls.append((place, item.storageKey, item.version))
      if !self.mayStore(item, holding: held) {
        batch.skipped.insert(item.storageKey)
        continue
      }
      batch.contents.append(self.content(of: item))
    }
    self.queue.removeFirst(places.count)
    // A removal that fails again waits for the next change.
    if !places.isEmpty || !self.removalWaiters.isEmpty {
      batch.removals = self.failedRemovals
      self.failedRemovals = [:]
      for (key, removal) in batch.removals.sorted(by: { $0.key < $1.key }) {
        batch.contents.append(JournalBatch.Content(key: key, record: nil, seen: removal.seen, removal: removal))
      }
    }
    batch.waiters = self.removalWaiters
    self.removalWaiters = []
    self.isWriting = !places.isEmpty || !batch.waiters.isEmpty
    return self.isWriting ? batch : nil
  }

  private func content(of item: Item) -> JournalBatch.Content {
    var content = JournalBatch.Content(
      key: item.storageKey,
      record: item.isGone ? nil : item.expired ?? item.record,
      isNew: !item.isStored,
      seen: item.seen,
      attempted: item.attempted
    )
    if !item.isStored { content.step = item.scheduleStep }
    if item.isGone {
      content.removal = item.removal
    } else if let place = item.replaced, let replaced = self.items[place] {
      content.replaced = (place, replaced.storageKey, replaced.seen)
    }
    return content
  }

  /// Whether decisions about a call that is being made may be stored.
  ///
  /// If this process has lost the right to make the call, another process may have made it and removed its entry.
  private func mayStore(_ item: Item, holding held: Set<JournalRight>?) -> Bool {
    guard let held, item.isStored, !item.isGone else { return true }
    if item.isTakenOver { return false }
    return !item.activity.isRunning || held.contains(self.right(of: item))
  }

  /// Records the results of a batch, and returns the results of the writes that it includes.
  mutating func didWrite(
    _ batch: JournalBatch,
    _ results: [JournalBatch.Result]
  ) -> [(JournalWrite, (any Error)?)] {
    var finished: [(JournalWrite, (any Error)?)] = []
    self.actions.signals += batch.waiters
    let byKey = Dictionary(zip(batch.contents.map(\.key), zip(batch.contents, results)), uniquingKeysWith: { $1 })
    for (key, removal) in batch.removals {
      if case .failed? = byKey[key]?.1 { self.failedRemovals[key] = removal }
    }
    for (place, key, version) in batch.calls {
      var failure: (any Error)? = batch.skipped.contains(key) ? JournalRightLost() : nil
      if let (content, result) = byKey[key], failure == nil {
        switch result {
        case .made(let version):
          self.items[place]?.seen = version
          self.items[place]?.attempted = nil
        case .failed(let error, let attempted):
          failure = error
          if let attempted { self.items[place]?.attempted = attempted }
        case .refused(let entry):
          failure = JournalEntryChanged(isGone: entry.version == nil)
          if let replaced = content.replaced, replaced.key == entry.key {
            finished += self.adopt(entry, at: replaced.place)
          } else if !content.isNew {
            finished += self.adopt(entry, at: place)
          }
        }
      }
      guard let item = self.items[place] else { continue }
      finished += item.writes.filter { $0.version <= version }.map { ($0, failure) }
      self.items[place]?.writes.removeAll { $0.version <= version }
    }
    return finished
  }
}

extension JournalState.Item {
  /// Which entries are removed when it has ended, or when the user removes it.
  var removal: EntryRemoval {
    EntryRemoval(seen: self.seen, revision: self.isBeingRemoved && !self.hasEnded ? nil : self.record?.revision ?? 0)
  }
}

extension Error {
  /// The error, if every change of a storage fails with it now; nil if it may concern one change.
  fileprivate var asObstacle: StorageError? {
    guard let error = self as? StorageError else { return nil }
    switch error.code {
    case .busy, .full, .readOnly, .closed, .moved, .cannotOpen, .notADatabase, .newerSchema: return error
    default: return nil
    }
  }
}

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
      let (failures, obstacle) = await self.store(batch)
      self.finish(batch, failures)
      guard let obstacle else { continue }
      // What waits meanwhile would fail in the same way, one batch after the other.
      while let next = self.state.withLock({ $0.nextBatch(holding: held) }) {
        self.finish(next, Dictionary(next.contents.map { ($0.key, obstacle) }, uniquingKeysWith: { first, _ in first }))
      }
      return
    }
  }

  private func finish(_ batch: JournalBatch, _ failures: [String: any Error]) {
    let finished = self.change { $0.didWrite(batch, failures) }
    for (write, error) in finished { write.finish(error.map { .failure($0) } ?? .success(())) }
  }

  /// Applies a batch. If that fails, applies each change by itself, because one change may have caused the failure,
  /// unless the error concerns the whole storage.
  ///
  /// - Returns: The errors of the keys that could not be written, and the error that concerns the whole storage; nil if
  ///   there is none.
  private nonisolated(nonsending) func store(
    _ batch: JournalBatch
  ) async -> (failures: [String: any Error], obstacle: StorageError?) {
    var failures: [String: any Error] = [:]
    var changes: [[StorageChange]] = []
    for content in batch.contents {
      guard let record = content.record else {
        changes.append([.remove(key: content.key)])
        continue
      }
      do {
        let put = StorageChange.put(key: content.key, value: try record.write())
        // Both changes are applied or neither: a call must not be lost with the call that replaces it.
        changes.append([put] + (content.replaced.map { [.remove(key: $0)] } ?? []))
      } catch {
        failures[content.key] = error
      }
    }
    do {
      if !changes.isEmpty { try await self.storage.apply(changes.flatMap(\.self)) }
    } catch {
      let obstacle = error.asObstacle
      guard changes.count > 1, obstacle == nil else {
        for change in changes { failures[change[0].key] = error }
        return (failures, obstacle)
      }
      for (index, change) in changes.enumerated() {
        do {
          try await self.storage.apply(change)
        } catch {
          failures[change[0].key] = error
          guard let obstacle = error.asObstacle else { continue }
          for change in changes[index...] { failures[change[0].key] = error }
          return (failures, obstacle)
        }
      }
    }
    return (failures, nil)
  }
}

/// The changes of one batch.
struct JournalBatch: Sendable {
  /// The calls, with their storage keys and the numbers of their last changes.
  var calls: [(place: JournalState.Place, key: String, version: Int)] = []
  var contents: [Content] = []
  /// The storage keys of calls with changes that are not stored, because the right to make the calls was lost.
  var skipped: Set<String> = []
  /// The keys with removals that have failed before.
  var removals: [String] = []
  /// The tasks that wait for the removals.
  var waiters: [AwaitedOutcome<Void>] = []

  /// The content that is stored with a key.
  struct Content: Sendable {
    let key: String
    /// The content; nil to remove the key.
    let record: JournalRecord?
    /// The key of the call that this call replaces. It is removed in the same step.
    var replaced: String?
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
      batch.calls.append((place, item.storageKey, item.version))
      if !self.mayStore(item, holding: held) {
        batch.skipped.insert(item.storageKey)
        continue
      }
      let replaced = item.isGone ? nil : item.replaced.flatMap { self.items[$0]?.storageKey }
      batch.contents.append(
        JournalBatch.Content(key: item.storageKey, record: item.isGone ? nil : item.record, replaced: replaced)
      )
    }
    self.queue.removeFirst(places.count)
    // A removal that fails again waits for the next change.
    if !places.isEmpty || !self.removalWaiters.isEmpty {
      batch.removals = self.failedRemovals.sorted()
      self.failedRemovals = []
      batch.contents += batch.removals.map { JournalBatch.Content(key: $0, record: nil) }
    }
    batch.waiters = self.removalWaiters
    self.removalWaiters = []
    self.isWriting = !places.isEmpty || !batch.waiters.isEmpty
    return self.isWriting ? batch : nil
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
  mutating func didWrite(_ batch: JournalBatch, _ failures: [String: any Error]) -> [(JournalWrite, (any Error)?)] {
    var finished: [(JournalWrite, (any Error)?)] = []
    self.actions.signals += batch.waiters
    self.failedRemovals.formUnion(batch.removals.filter { failures[$0] != nil })
    for (place, key, version) in batch.calls {
      guard let item = self.items[place] else { continue }
      let failure = batch.skipped.contains(key) ? JournalRightLost() : failures[key]
      finished += item.writes.filter { $0.version <= version }.map { ($0, failure) }
      self.items[place]?.writes.removeAll { $0.version <= version }
    }
    return finished
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

internal import OperationCore

extension MutationJournal {
  var deadlines: any DeadlineSource { self.boundClient?.defaultContext.operationDeadlines ?? .system }

  /// Takes, renews or releases leases. Returns the time until the next change; nil if none is needed any more.
  func updateLease(_ lease: JournalLease) async -> Duration? {
    while true {
      let need = self.state.withLock { $0.rightsNeed(holding: lease.rights) }
      let acquisition = await lease.acquire(need.rights, on: self.deadlines)
      let (refused, taken) = (acquisition.refused, acquisition.taken)
      if !refused.isEmpty {
        let now = self.deadlines.elapsed
        self.change { state in
          state.refuse(refused)
          for (right, remaining) in acquisition.others { state.rights.others[right] = now + remaining }
        }
      }
      // A call begins with a right only after the changes of other processes were read.
      if !taken.isEmpty { self.state.withLock { $0.rights.held?.subtract(taken.keys) } }
      var granted = acquisition.held
      let now = self.deadlines.elapsed
      if !taken.isEmpty || need.isWatching && lease.isReadingDue(at: now) {
        // The entries are read once for all rights.
        if await self.reload(lease) {
          granted.formUnion(lease.confirm(taken, at: now))
        } else {
          // Another process may be able to read the entries.
          await lease.release(Set(taken.keys))
          self.change { $0.refuse(Set(taken.keys)) }
        }
      }
      self.change { [granted] in $0.grant(granted) }
      let linger = await self.releaseIdle(lease)
      var waits = [linger, refused.isEmpty ? nil : acquisition.wait].compactMap(\.self)
      if !lease.rights.isEmpty || need.isWatching { waits.append(lease.renewalInterval) }
      if self.state.withLock({ !$0.rights.asked.isEmpty }) { waits.append(JournalLease.retryInterval) }
      if let wait = waits.min() { return wait }
      if lease.endDriving() { return nil }
    }
  }

  /// Releases the leases that were not needed for a while. Returns the time until the next release.
  private func releaseIdle(_ lease: JournalLease) async -> Duration? {
    let held = lease.rights
    let idle = self.state.withLock { state in held.filter { !state.isNeeded($0) } }
    let (ended, rest) = lease.linger(idle, at: self.deadlines.elapsed)
    // This comes before the release, so that no call begins after it.
    let released = ended.isEmpty ? [] : self.change { $0.giveUp(ended) }
    await lease.release(released)
    return rest
  }

  /// Reads the entries again: other processes have added and removed some.
  private func reload(_ lease: JournalLease) async -> Bool {
    do {
      try await self.load()
      let known = self.state.withLock { $0.beginReading() }
      let entries = try await self.storage.entries(withPrefix: StorageKey.journal)
      let read = entries.map { entry in (entry.key, Result { try JournalRecord.read(entry.value) }) }
      var alive: Set<String> = []
      for owner in Set(read.compactMap { try? $0.1.get().owner }) where owner != lease.owner {
        if await lease.isAlive(owner) { alive.insert(owner) }
      }
      let shown = self.change { [alive] state -> Set<String> in
        defer { state.reconcile(read, known: known, alive: alive, own: lease.owner) }
        return Set(state.items.values.map(\.storageKey))
      }
      self.reportUnreadable(read.filter { !shown.contains($0.0) })
      return true
    } catch {
      self.state.withLock { $0.removedWhileReading = nil }
      OperationWarning.report(storageFailedTo: "read the journal", error)
      return false
    }
  }
}

extension JournalState {
  /// Begins to watch for changes while the entries are read.
  ///
  /// Returns the stored calls with the numbers of their changes; the number is nil if the last change of a call is not
  /// stored yet.
  fileprivate mutating func beginReading() -> [Place: Int?] {
    self.removedWhileReading = []
    return self.items.filter(\.value.isStored).mapValues { item in
      item.isQueued || !item.writes.isEmpty ? nil : item.version
    }
  }

  /// Takes over the changes of other processes.
  ///
  /// - Parameters:
  ///   - read: The stored entries, which may be older than the latest decisions of this process.
  ///   - known: The calls that were stored before the entries were read, with the numbers of their changes; the number
  ///     is nil if the last change was not stored.
  ///   - alive: The journals of other processes that live.
  ///   - own: This journal.
  fileprivate mutating func reconcile(
    _ read: [(key: String, record: Result<JournalRecord, any Error>)],
    known: [Place: Int?],
    alive: Set<String>,
    own: String
  ) {
    let removed = self.removedWhileReading.take() ?? []
    var places = Dictionary(self.items.map { ($0.value.storageKey, $0.key) }, uniquingKeysWith: { a, _ in a })
    var restored: [Place] = []
    var refreshed: [Place] = []
    // The last known call of each process and scope.
    var last: [[String?]: Place] = [:]
    for (key, result) in read {
      let record = (try? result.get())?.afterProcess
      let line = record.flatMap { record in record.scope.map { [record.owner, $0] } }
      var isFromEarlierStart = false
      if let place = places.removeValue(forKey: key) {
        // If a call was changed since, its state here is newer.
        let isUnchanged = self.items[place].map { known[place] == $0.version && !$0.isQueued } ?? false
        guard let record, record.owner != own, isUnchanged else { continue }
        isFromEarlierStart = self.items[place]?.isFromEarlierStart ?? false
        let isOutOfOrder = line.flatMap { last[$0] }.map { place < $0 } ?? false
        guard isOutOfOrder, self.forget(place) else {
          if let line { last[line] = max(place, last[line] ?? place) }
          self.refresh(place, record, alive)
          refreshed.append(place)
          continue
        }
      } else if self.failedRemovals.contains(key) || removed.contains(key) {
        continue
      }
      let place = self.nextEarlierPlace()
      let isElsewhere = record?.owner.map { alive.contains($0) } ?? false
      self.restore(
        record,
        from: key,
        at: place,
        isElsewhere: isElsewhere,
        isFromEarlierStart: isFromEarlierStart
      )
      restored.append(place)
      if let line { last[line] = place }
    }
    for place in places.values where known[place] != nil {
      // A call that is about to be replaced is removed when the other call is accepted.
      guard let item = self.items[place], item.isStored, !item.isGone, item.replacement == nil else { continue }
      if item.activity.isRunning { self.items[place]?.isTakenOver = true } else { self.takeOver(place) }
    }
    // The calls of an ended process are made by a process that has resumed. The others watch these calls until then.
    if self.lastResumption > 0, !restored.isEmpty {
      self.lastResumption += 1
      for place in restored where self.items[place]?.isPending == true { self.makeDue(place, in: self.lastResumption) }
    }
    self.advanceAll(restored + refreshed)
  }

  /// Forgets a call of another process, so that it is added again behind an earlier call that was stored after it.
  /// Returns false if the call is being made.
  private mutating func forget(_ place: Place) -> Bool {
    guard let item = self.items[place], item.activity.isNone, !item.isGone, item.replacement == nil
    else { return false }
    if let updates = item.updates { self.actions.ended.append(updates) }
    self.remove(place)
    return true
  }

  /// Records the changes that another process has stored for its call.
  private mutating func refresh(_ place: Place, _ record: JournalRecord, _ alive: Set<String>) {
    guard let item = self.items[place], item.activity.isNone, !item.isGone else { return }
    let isElsewhere = record.owner.map { alive.contains($0) } ?? false
    if item.isInLane { self.leave(place) }
    self.edit(place) { item in
      item.record = record
      item.isElsewhere = isElsewhere
      if record.isHolding { item.isHeld = true }
    }
    if self.items[place]?.isInLane == true, let lane = record.scope { self.enter(lane, place) }
    if record.isDeadLetter { self.endDue(place) }
    // A call that is due was passed over before.
    if item.isElsewhere, !isElsewhere, item.isDue, record.scope == nil { self.dueWithoutScope.append(place) }
  }

  /// Removes a call that another process has made. A call that runs here is removed when it ends, and begins no further
  /// body.
  private mutating func takeOver(_ place: Place) {
    if case .waiting(let continuation, let caller)? = self.items[place]?.activity {
      self.edit(place) { $0.activity = .claimed }
      self.actions.turns.append((continuation, .takenOver))
      self.actions.callers.append(caller)
    }
    if let updates = self.items[place]?.updates { self.actions.ended.append(updates) }
    if let item = self.items[place] {
      self.actions.fates.append((item.fate, .ended(.takenOver, item.record?.name ?? "")))
    }
    self.remove(place)
  }
}

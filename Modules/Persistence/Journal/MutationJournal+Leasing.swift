internal import OperationCore

/// What a journal needs of the leases.
private struct LeaseNeed: Sendable {
  /// Whether a call runs or is to be made.
  let wantsToSend: Bool
  let isSending: Bool
  let hasCallers: Bool
  /// Whether a call of this process has not ended.
  let hasOwnCalls: Bool
}

extension MutationJournal {
  var deadlines: any DeadlineSource { self.boundClient?.defaultContext.operationDeadlines ?? .system }

  /// Takes, renews or releases the leases. Returns the time until the next change; nil if none is needed any more.
  func updateLease(_ lease: JournalLease) async -> Duration? {
    while true {
      let now = self.deadlines.elapsed
      let need = self.state.withLock { $0.leaseNeed }
      if need.hasOwnCalls { await lease.showPresence(at: now) }
      if need.wantsToSend {
        lease.isBusy()
        switch await lease.acquire(at: now) {
        case .held: break
        case .taken:
          guard await self.reload(lease) else {
            self.change { $0.endLeaseWaits() }
            return JournalLease.retryInterval
          }
        case .refused(let wait):
          self.change { state in
            state.maySend = false
            state.endLeaseWaits()
          }
          return wait
        }
        self.change { $0.allowSending() }
        // One decision: no call may get its turn between the two.
        let isSending = self.change { state -> Bool in
          if !state.leaseNeed.isSending { state.maySend = false }
          return state.maySend
        }
        if isSending { return lease.renewalInterval }
        // What is left are calls of another process, which can make them now.
        await lease.release()
        return need.hasCallers ? JournalLease.retryInterval : lease.renewalInterval
      }
      if let linger = lease.remainingLinger(at: now) { return min(linger, lease.renewalInterval) }
      // Before the release, so that nothing begins after it.
      let isIdle = self.change { state -> Bool in
        guard !state.leaseNeed.wantsToSend else { return false }
        state.maySend = false
        return true
      }
      guard isIdle else { continue }
      await lease.release()
      if need.hasOwnCalls { return lease.renewalInterval }
      if lease.endDriving() {
        await lease.endPresence()
        return nil
      }
    }
  }

  /// Reads the entries again: other processes have added and removed some.
  private func reload(_ lease: JournalLease) async -> Bool {
    do {
      try await self.load()
      let known = self.state.withLock { $0.beginReload() }
      let entries = try await self.storage.entries(withPrefix: StorageKey.journal)
      let read = entries.map { entry in (entry.key, Result { try JournalRecord.read(entry.value) }) }
      var alive: Set<String> = []
      for owner in Set(read.compactMap { try? $0.1.get().owner }) where owner != lease.owner {
        if await lease.isAlive(owner) { alive.insert(owner) }
      }
      let shown = self.change { [alive] state -> Set<String> in
        let removed = state.removedDuringReload.take() ?? []
        defer { state.reconcile(read, known, without: removed, alive: alive, own: lease.owner) }
        return removed.union(state.items.values.map(\.storageKey))
      }
      self.reportUnreadable(read.filter { !shown.contains($0.0) })
      return true
    } catch {
      self.change { $0.removedDuringReload = nil }
      OperationWarning.report(storageFailedTo: "read the journal", error)
      await lease.release()
      return false
    }
  }
}

extension JournalState {
  fileprivate var leaseNeed: LeaseNeed {
    LeaseNeed(
      wantsToSend: self.runningCount > 0 || self.callersInLine > 0 || !self.dueCounts.isEmpty,
      isSending: self.runningCount + self.claimedCount > 0,
      hasCallers: self.callersInLine > 0,
      hasOwnCalls: self.ownCount > 0
    )
  }

  /// Begins to read the entries again. Returns the calls that are stored, with the numbers of their last changes.
  fileprivate mutating func beginReload() -> [Place: Int] {
    self.removedDuringReload = []
    return self.items.filter { $0.value.isStored && !$0.value.isQueued && $0.value.writes.isEmpty }
      .mapValues(\.version)
  }

  /// Takes over what other processes have changed.
  ///
  /// - Parameters:
  ///   - read: The stored entries, which may be older than what this process has decided since.
  ///   - known: The calls that were stored before the entries were read, with the numbers of their last changes.
  ///   - removed: The storage keys of the calls that this process has removed since.
  ///   - alive: The journals of other processes that live.
  ///   - own: This journal.
  fileprivate mutating func reconcile(
    _ read: [(key: String, record: Result<JournalRecord, any Error>)],
    _ known: [Place: Int],
    without removed: Set<String>,
    alive: Set<String>,
    own: String
  ) {
    var places = Dictionary(self.items.map { ($0.value.storageKey, $0.key) }, uniquingKeysWith: { a, _ in a })
    var restored: [Place] = []
    for (key, result) in read {
      let record = (try? result.get())?.afterProcess
      if let place = places.removeValue(forKey: key) {
        if let record, record.owner != own { self.refresh(place, record, known[place], alive) }
      } else if !self.failedRemovals.contains(key), !removed.contains(key) {
        let place = self.nextEarlierPlace()
        let isElsewhere = record?.owner.map { alive.contains($0) } ?? false
        self.restore(record, from: key, at: place, isElsewhere: isElsewhere)
        restored.append(place)
      }
    }
    for place in places.values where known[place] != nil {
      guard let item = self.items[place], item.isStored, !item.isQueued, !item.isGone else { continue }
      if item.activity.isRunning { self.items[place]?.isTakenOver = true } else { self.takeOver(place) }
    }
    // The calls of a process that has ended are made by one that has resumed, and watched until then.
    guard self.lastResumption > 0, !restored.isEmpty else { return }
    self.lastResumption += 1
    for place in restored where self.items[place]?.isPending == true { self.makeDue(place, in: self.lastResumption) }
  }

  /// Records what another process has stored for its call, unless this one has changed it since `version`.
  private mutating func refresh(_ place: Place, _ found: JournalRecord, _ version: Int?, _ alive: Set<String>) {
    guard let item = self.items[place], item.activity.isNone, !item.isGone else { return }
    let record = item.version == version ? found : item.record ?? found
    let isElsewhere = record.owner.map { alive.contains($0) } ?? false
    if item.isInLane { self.leave(place) }
    self.edit(place) { item in
      item.record = record
      item.isElsewhere = isElsewhere
      if record.isHolding { item.isHeld = true }
    }
    if self.items[place]?.isInLane == true, let lane = record.scope { self.enter(lane, place) }
    if record.isDeadLetter { self.endDue(place) }
    // One that is due already was passed over before.
    if item.isElsewhere, !isElsewhere, item.isDue, record.scope == nil { self.dueWithoutScope.append(place) }
  }

  /// Removes a call that another process has made. One that runs is removed when it ends, and begins no body.
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

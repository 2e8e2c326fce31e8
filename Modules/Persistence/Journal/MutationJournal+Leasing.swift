internal import OperationCore

extension MutationJournal {
  var deadlines: any DeadlineSource { self.boundClient?.defaultContext.operationDeadlines ?? .system }

  /// Takes, renews or releases leases. Returns the time until the next change; nil if none is needed any more.
  func updateLease(_ lease: JournalLease) async -> Duration? {
    while true {
      let need = self.state.withLock { $0.leasesNeed(holding: lease.leaseKeys) }
      let acquisition = await lease.acquire(need.leaseKeys, for: self)
      let (refused, taken) = (acquisition.refused, acquisition.taken)
      if !refused.isEmpty {
        let (now, date) = (self.deadlines.elapsed, self.date)
        self.change { state in
          state.refuse(refused)
          state.noteLeases(acquisition.others, at: now, date)
        }
      }
      // A call begins with a lease only after the changes of other processes were read.
      if !taken.isEmpty { self.change { $0.awaitReading(of: Set(taken.keys)) } }
      var granted = acquisition.held
      let now = self.deadlines.elapsed
      if !taken.isEmpty || need.isWatching && lease.isReadingDue(at: now) {
        // The entries are read once for all leases.
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
      if !lease.leaseKeys.isEmpty || need.isWatching { waits.append(lease.renewalInterval) }
      if self.state.withLock({ !$0.leases.asked.isEmpty }) { waits.append(JournalLease.retryInterval) }
      if let wait = waits.min() { return wait }
      if lease.endDriving() { return nil }
    }
  }

  /// Releases the leases that were not needed for a while. Returns the time until the next release.
  private func releaseIdle(_ lease: JournalLease) async -> Duration? {
    let held = lease.leaseKeys
    let idle = self.state.withLock { state in held.filter { !state.isNeeded($0) } }
    let (ended, rest) = lease.linger(idle, at: self.deadlines.elapsed)
    // This comes before the release, so that no call begins after it.
    let released = ended.isEmpty ? [] : self.change { $0.giveUp(ended) }
    await lease.release(released)
    return rest
  }

  /// Reads the entries again, unless no other process has changed any: other processes may have added and removed some.
  func reload(_ lease: JournalLease) async -> Bool {
    var isReading = false
    do {
      try await self.load()
      // Before the entries are read: what is changed meanwhile is read the next time.
      let changes = try await lease.numberOfForeignChanges()
      // A process that makes calls may end without changing any.
      if let owners = self.state.withLock({ $0.otherOwners(asOf: changes) }) {
        let living = await lease.lives(of: owners)
        if living.count == owners.count {
          let (now, date) = (self.deadlines.elapsed, self.date)
          if !living.isEmpty { self.change { $0.noteLiving(living, at: now, date) } }
          return true
        }
      }
      let (known, schedules) = await self.beginReading()
      isReading = true
      let versions = self.state.withLock { $0.versions }
      let isUnchanged = self.state.withLock { changes != nil && changes == $0.knownForeignChanges }
      let read =
        isUnchanged ? ReadEntries(known: versions) : try await self.storage.journalEntries(known: versions)
      let living = await lease.lives(of: self.state.withLock { $0.owners(of: read.calls) })
      let (now, date) = (self.deadlines.elapsed, self.date)
      let (shown, hasSchedules) = self.change { [living] state -> (Set<String>, Bool) in
        defer {
          if !isUnchanged {
            state.reconcile(
              schedules: read.schedules,
              known: schedules,
              removed: state.removedWhileReading ?? []
            )
          }
          state.noteLiving(living, at: now, date)
          state.reconcile(
            read.calls,
            areAll: !isUnchanged,
            known: known,
            alive: Set(living.keys),
            own: lease.owner
          )
          state.knownForeignChanges = changes
          state.endReading()
        }
        return (Set(state.items.values.map(\.storageKey)), !read.schedules.isEmpty)
      }
      self.reportUnreadable(read.calls.filter { !shown.contains($0.key) })
      if hasSchedules { self.checkSchedules() }
      return true
    } catch {
      if isReading { self.change { $0.endReading() } }
      OperationWarning.report(storageFailedTo: "read the journal", error)
      return false
    }
  }
}

extension MutationJournal {
  /// Begins to read the entries, after another task has read them.
  private nonisolated(nonsending) func beginReading() async -> (
    calls: [JournalState.Position: Int?], schedules: [String: Int?]
  ) {
    while true {
      let signal = AwaitedOutcome<Void>()
      let known = self.state.withLock { state -> (calls: [JournalState.Position: Int?], schedules: [String: Int?])? in
        if state.removedWhileReading != nil {
          state.readingWaiters.append(signal)
          return nil
        }
        return (state.beginReading(), state.schedulesBeforeReading())
      }
      if let known { return known }
      await signal.value()
    }
  }
}

extension JournalState {
  /// Ends a read of the entries.
  fileprivate mutating func endReading() {
    self.removedWhileReading = nil
    self.actions.signals += self.readingWaiters
    self.readingWaiters = []
  }

  /// Begins to watch for changes while the entries are read.
  ///
  /// Returns the stored calls with the numbers of their changes; the number is nil if the last change of a call is not
  /// stored yet.
  fileprivate mutating func beginReading() -> [Position: Int?] {
    self.removedWhileReading = []
    return self.items.filter(\.value.isStored).mapValues { item in
      item.changes.areStored ? item.changes.count : nil
    }
  }

  /// The versions of the stored calls, by their keys, unless a change of them is being written.
  fileprivate var versions: [String: CallVersion] {
    var versions: [String: CallVersion] = [:]
    versions.reserveCapacity(self.items.count)
    for item in self.items.values where item.isStored && item.changes.areStored {
      versions[item.storageKey] = item.seen
    }
    return versions
  }

  /// The journals that have accepted calls.
  fileprivate func owners(of calls: [ReadEntries.Call]) -> Set<String> {
    var owners: Set<String> = []
    for case .success(let record)? in calls.map(\.record) { if let owner = record.owner { owners.insert(owner) } }
    // Those of the calls that are as they were.
    for item in self.items.values { if let owner = item.record?.owner { owners.insert(owner) } }
    return owners
  }

  /// Takes over the changes of other processes.
  ///
  /// - Parameters:
  ///   - read: The stored entries, which may be older than the latest decisions of this process.
  ///   - areAll: Whether others were removed.
  ///   - known: The calls that were stored before the entries were read, with the numbers of their changes; the number
  ///     is nil if the last change was not stored.
  ///   - alive: The journals of other processes that live.
  ///   - own: This journal.
  fileprivate mutating func reconcile(
    _ read: [ReadEntries.Call],
    areAll: Bool,
    known: [Position: Int?],
    alive: Set<String>,
    own: String
  ) {
    let removed = self.removedWhileReading.take() ?? []
    var positions = Dictionary(self.items.map { ($0.value.storageKey, $0.key) }, uniquingKeysWith: { a, _ in a })
    var restored: [Position] = []
    var refreshed: [Position] = []
    // The last known call of each process and scope.
    var last: [[String?]: Position] = [:]
    for call in read {
      let (key, version) = (call.key, call.version)
      // What has not changed is known better here: a body may be running.
      let record =
        call.record.map { (try? $0.get())?.afterProcess } ?? positions[key].flatMap { self.items[$0]?.record }
      let line = record.flatMap { record in record.scope.map { [record.owner, $0] } }
      var origin = JournalPhase.Origin.otherProcess(.thisProcess)
      if let position = positions.removeValue(forKey: key) {
        // If a call was changed since, its state here is newer.
        let isUnchanged =
          self.items[position].map { known[position] == $0.changes.count && !$0.changes.areQueued } ?? false
        guard let record, isUnchanged else { continue }
        if record.owner == own {
          // Another process has taken this one for ended, and has sent or changed the call.
          if self.items[position]?.seen != version {
            self.refresh(position, record, version, madeBy: .thisProcess)
            refreshed.append(position)
          }
          continue
        }
        origin = self.items[position]?.origin ?? origin
        let isOutOfOrder = line.flatMap { last[$0] }.map { position < $0 } ?? false
        guard isOutOfOrder, self.forget(position) else {
          if let line { last[line] = max(position, last[line] ?? position) }
          self.refresh(position, record, version, madeBy: .owner(record.owner, of: alive))
          refreshed.append(position)
          continue
        }
      } else if self.failedRemovals.contains(key) || removed.contains(key) {
        continue
      }
      let position = self.nextEarlierPosition()
      origin.setMaker(.owner(record?.owner, of: alive))
      self.restore(record, from: key, version, at: position, origin)
      restored.append(position)
      if let line { last[line] = position }
    }
    for position in positions.values where areAll && known[position] != nil {
      // A call that is about to be replaced is removed when the other call is accepted.
      guard let item = self.items[position], item.isStored, !item.isGone, item.replacement == nil else { continue }
      self.endElsewhere(position)
    }
    // The calls of an ended process are made by a process that has resumed. The others watch these calls until then.
    if self.lastResumption > 0, !restored.isEmpty {
      self.lastResumption += 1
      for position in restored where self.items[position]?.isPending == true {
        self.makeDue(position, in: self.lastResumption)
      }
    }
    self.advanceAll(restored + refreshed)
  }

  /// Forgets a call of another process, so that it is added again behind an earlier call that was stored after it.
  /// Returns false if the call is being made.
  private mutating func forget(_ position: Position) -> Bool {
    guard let item = self.items[position], item.activity.isNone, !item.isGone, item.replacement == nil
    else { return false }
    if let updates = item.updates { self.actions.ended.append(updates) }
    self.remove(position)
    return true
  }

  /// Records that entries were removed which another task may be reading, or has just read.
  mutating func endElsewhere(_ keys: Set<String>) {
    self.removedWhileReading?.formUnion(keys)
    for (position, item) in self.items where keys.contains(item.storageKey) && item.isStored && !item.isGone {
      self.endElsewhere(position)
    }
  }

  /// Takes over what another process has made of an entry, after a change of this process was refused.
  ///
  /// - Returns: The changes that wait to be written. They were decided for the earlier entry, so they are refused, too.
  mutating func adopt(_ entry: ReadEntry, at position: Position) -> [(JournalWrite, (any Error)?)] {
    guard let item = self.items[position], !item.isGone else { return [] }
    let refused = self.items[position]?.changes.refuse() ?? []
    self.items[position]?.expiry.endStoring()
    if let version = entry.version, let record = entry.record {
      self.refresh(position, record, version, madeBy: item.isElsewhere ? .otherProcess : .thisProcess)
      self.advance(record.scope)
    } else {
      self.endElsewhere(position)
    }
    return refused.map { ($0, JournalEntryChanged()) }
  }

  /// Records what another process has stored of a call.
  private mutating func refresh(
    _ position: Position,
    _ record: JournalRecord,
    _ version: CallVersion,
    madeBy maker: JournalPhase.Maker
  ) {
    guard var item = self.items[position], !item.isGone else { return }
    let earlier = item.record
    // New arguments that were not stored yet are lost, too.
    if let earlier, !earlier.isSameRequest(as: record), !item.activity.isNone {
      self.actions.released.append(item)
      self.items[position]?.decision = .overtaken(.ended(.takenOver, record.name))
    }
    item.record = record
    item.origin.setMaker(maker)
    // Before its scope counts it as one that has left.
    if !item.isInScope { self.leave(position) }
    let wasElsewhere = self.edit(position) { item in
      defer { item.origin.setMaker(maker) }
      item.record = record
      if item.seen != version {
        item.changes.noteOther()
        // Its record does not count the body that this process was about to begin.
        item.bodies.takeBack()
        item.expiry.endStoring()
      }
      // Another process has made it again after its time had passed.
      if record.expiresAt != earlier?.expiresAt { item.expiry = .ahead }
      item.seen = version
      item.attempted = nil
      if earlier?.isDeadLetter == true { item.hold = .none }
      if record.isHolding, !item.isHeld { item.hold = .held }
      return item.isElsewhere
    }
    if record.expiresAt != earlier?.expiresAt { self.actions.expiring.append(position) }
    if item.isInScope, let scope = record.scope { self.enter(scope, position) }
    if record.isDeadLetter, earlier?.isDeadLetter == false { self.setAsideElsewhere(position, record) }
    // A call that is due was passed over before.
    if wasElsewhere == true, maker == .thisProcess, item.isDue, record.scope == nil {
      self.dueWithoutScope.append(position)
    }
  }

  /// Ends the waits for a call that another process has set aside.
  private mutating func setAsideElsewhere(_ position: Position, _ record: JournalRecord) {
    self.removeLinks(of: position)
    let turn: JournalTurn = record.status == .expired ? .expired : .takenOver
    // The end of a run finds the entry as it is now.
    guard let activity = self.items[position]?.activity, !activity.isRunning else { return }
    self.endWait(of: position, with: turn)
    self.endAside(position, because: "another process has set it aside")
    // The wait of its caller has not begun yet.
    if case .claimed(let run, _) = activity {
      self.edit(position) { $0.activity = .claimed(run, endedEarly: turn) }
    }
  }

  /// Records that another process has removed an entry: it has made the call, or its user has removed it.
  mutating func endElsewhere(_ position: Position) {
    guard self.isRunning(position) else { return self.takeOver(position) }
    self.items[position]?.phase = .takenOver
    self.endDecision(about: position)
  }

  /// Removes a call that another process has made. A call that runs here is removed when it ends, and begins no further
  /// body.
  private mutating func takeOver(_ position: Position) {
    self.endWait(of: position, with: .takenOver)
    if let updates = self.items[position]?.updates { self.actions.ended.append(updates) }
    if let item = self.items[position] {
      self.actions.results.append((item.result, .ended(.takenOver, item.record?.name ?? "")))
    }
    self.remove(position)
  }
}

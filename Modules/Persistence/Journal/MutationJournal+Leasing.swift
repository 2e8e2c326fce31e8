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
        let (now, date) = (self.deadlines.elapsed, self.date)
        self.change { state in
          state.refuse(refused)
          state.noteLeases(acquisition.others, at: now, date)
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

  /// Reads the entries again, unless no other process has changed any: other processes may have added and removed some.
  func reload(_ lease: JournalLease) async -> Bool {
    var isReading = false
    do {
      try await self.load()
      // Before the entries are read: what is changed meanwhile is read the next time.
      let changes = try await lease.numberOfForeignChanges()
      // A process that makes calls may end without changing any.
      let isCurrent = self.state.withLock { state in
        changes != nil && changes == state.knownForeignChanges && state.elsewhereCount == 0
      }
      if isCurrent { return true }
      let (known, schedules) = await self.beginReading()
      isReading = true
      let versions = self.state.withLock { $0.versions }
      // Processes that make calls may have ended without changing any.
      let isUnchanged = self.state.withLock { changes != nil && changes == $0.knownForeignChanges }
      let read =
        isUnchanged ? ReadEntries(known: versions) : try await self.storage.journalEntries(known: versions)
      var living: [String: Duration] = [:]
      for owner in self.state.withLock({ $0.owners(of: read.calls) }) where owner != lease.owner {
        // Many calls may be left of many processes. Of those of this machine the system knows that they have ended.
        if !LeaseOwner.hasEnded(owner) { living[owner] = await lease.life(of: owner) }
      }
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
    calls: [JournalState.Place: Int?], schedules: [String: Int?]
  ) {
    while true {
      let signal = AwaitedOutcome<Void>()
      let known = self.state.withLock { state -> (calls: [JournalState.Place: Int?], schedules: [String: Int?])? in
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
  fileprivate mutating func beginReading() -> [Place: Int?] {
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
    for call in read {
      let (key, version) = (call.key, call.version)
      // What has not changed is known better here: a body may be running.
      let record = call.record.map { (try? $0.get())?.afterProcess } ?? places[key].flatMap { self.items[$0]?.record }
      let line = record.flatMap { record in record.scope.map { [record.owner, $0] } }
      var origin = JournalPhase.Origin.otherProcess(.thisProcess)
      if let place = places.removeValue(forKey: key) {
        // If a call was changed since, its state here is newer.
        let isUnchanged = self.items[place].map { known[place] == $0.changes.count && !$0.changes.areQueued } ?? false
        guard let record, isUnchanged else { continue }
        if record.owner == own {
          // Another process has taken this one for ended, and has sent or changed the call.
          if self.items[place]?.seen != version {
            self.refresh(place, record, version, madeBy: .thisProcess)
            refreshed.append(place)
          }
          continue
        }
        origin = self.items[place]?.origin ?? origin
        let isOutOfOrder = line.flatMap { last[$0] }.map { place < $0 } ?? false
        guard isOutOfOrder, self.forget(place) else {
          if let line { last[line] = max(place, last[line] ?? place) }
          self.refresh(place, record, version, madeBy: .owner(record.owner, of: alive))
          refreshed.append(place)
          continue
        }
      } else if self.failedRemovals[key] != nil || removed.contains(key) {
        continue
      }
      let place = self.nextEarlierPlace()
      origin.setMaker(.owner(record?.owner, of: alive))
      self.restore(record, from: key, version, at: place, origin)
      restored.append(place)
      if let line { last[line] = place }
    }
    for place in places.values where areAll && known[place] != nil {
      // A call that is about to be replaced is removed when the other call is accepted.
      guard let item = self.items[place], item.isStored, !item.isGone, item.replacement == nil else { continue }
      self.endElsewhere(place)
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

  /// Takes over what another process has made of an entry, after a change of this process was refused.
  ///
  /// - Returns: The changes that wait to be written. They were decided for the earlier entry, so they are refused, too.
  mutating func adopt(_ entry: ReadEntry, at place: Place) -> [(JournalWrite, (any Error)?)] {
    guard let item = self.items[place], !item.isGone else { return [] }
    let refused = self.items[place]?.changes.refuse() ?? []
    self.items[place]?.expiry.endStoring()
    if let version = entry.version, let record = entry.record {
      self.refresh(place, record, version, madeBy: item.isElsewhere ? .otherProcess : .thisProcess)
      self.advance(record.scope)
    } else {
      self.endElsewhere(place)
    }
    return refused.map { ($0, JournalEntryChanged(isGone: entry.version == nil)) }
  }

  /// Records what another process has stored of a call.
  private mutating func refresh(
    _ place: Place,
    _ record: JournalRecord,
    _ version: CallVersion,
    madeBy maker: JournalPhase.Maker
  ) {
    guard var item = self.items[place], !item.isGone else { return }
    let (earlier, wasInLane) = (item.record, item.isInLane)
    item.record = record
    item.origin.setMaker(maker)
    // Before its scope counts it as one that has left.
    if wasInLane, !item.isInLane { self.leave(place) }
    let wasElsewhere = self.edit(place) { item in
      defer { item.origin.setMaker(maker) }
      item.record = record
      if item.seen != version { item.changes.noteOther() }
      item.seen = version
      item.attempted = nil
      if earlier?.isDeadLetter == true { item.hold = .none }
      if record.isHolding, !item.isHeld { item.hold = .held }
      return item.isElsewhere
    }
    if !wasInLane, item.isInLane, let lane = record.scope { self.enter(lane, place) }
    if record.isDeadLetter, earlier?.isDeadLetter == false { self.setAsideElsewhere(place, record) }
    // A call that is due was passed over before.
    if wasElsewhere == true, maker == .thisProcess, item.isDue, record.scope == nil { self.dueWithoutScope.append(place) }
  }

  /// Ends the waits for a call that another process has set aside.
  private mutating func setAsideElsewhere(_ place: Place, _ record: JournalRecord) {
    self.removeLinks(of: place)
    let turn: JournalTurn = record.status == .expired ? .expired : .takenOver
    switch self.items[place]?.activity {
    // Its end finds the entry as it is now.
    case .running, nil: return
    case .none?: break
    case .claimed: self.items[place]?.endedEarly = turn
    case .waiting(let continuation, let caller):
      self.waitingWithoutScope.remove(place)
      self.actions.turns.append((continuation, turn))
      self.actions.callers.append(caller)
    }
    self.endAside(place, because: "another process has set it aside")
  }

  /// Records that another process has removed an entry: it has made the call, or its user has removed it.
  private mutating func endElsewhere(_ place: Place) {
    if self.isRunning(place) { self.items[place]?.phase = .takenOver } else { self.takeOver(place) }
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

internal import OperationCore

extension JournalState {
  /// Whether the order of its scope allows a call to be made now.
  func hasTurn(_ place: Place) -> Bool {
    guard let item = self.items[place], let lane = item.lane else { return true }
    return self.lanes[lane]?.first == place
  }

  /// Inserts a call into its lane, at its place in the order, but behind a call that has its turn.
  mutating func enter(_ lane: String, _ place: Place) {
    var calls = self.lanes[lane].take() ?? JournalLane()
    calls.insert(place, behindFirst: calls.first.map { self.isRunning($0) } ?? false)
    if self.items[place]?.activity.isCallerInLine == true { calls.callerCount += 1 }
    if self.items[place]?.isUnnumbered == true { calls.setUnnumbered(true, place) }
    if self.items[place]?.isDue == true { calls.dueCount += 1 }
    self.lanes[lane] = calls
  }

  /// Removes a call from its lane.
  ///
  /// - Parameters:
  ///   - place: The call, whose entry may have been removed meanwhile.
  ///   - lane: The lane; nil for the one of the call.
  mutating func leave(_ place: Place, in lane: String? = nil) {
    let item = self.items[place]
    guard let lane = lane ?? item?.lane, var calls = self.lanes[lane].take() else { return }
    calls.remove(place)
    if item?.activity.isCallerInLine == true { calls.callerCount -= 1 }
    calls.setUnnumbered(false, place)
    if item?.isDue == true { calls.dueCount -= 1 }
    self.lanes[lane] = calls.isEmpty ? nil : calls
    if calls.isEmpty {
      self.shown.blocked.removeValue(forKey: lane)
      self.rights.lanesElsewhere.remove(lane)
    }
  }

  /// Passes the turn on to the first call of a lane.
  mutating func advance(_ lane: String?) {
    self.advanceLane(lane)
    // The call that has ended may have left room for another scope.
    while self.hasRoomForScope, let next = self.waitingLanes.popFirst() {
      self.advanceLane(next, isNext: true)
    }
  }

  /// Whether there is room for another scope with calls that are made again.
  private var hasRoomForScope: Bool {
    self.replaysInScopes + self.rights.askedForReplays.count < self.maximumScopes
  }

  /// - Parameters:
  ///   - lane: The lane.
  ///   - isNext: Whether the lane is the first of the waiting ones.
  private mutating func advanceLane(_ lane: String?, isNext: Bool = false) {
    guard let lane else { return }
    self.rights.lanesElsewhere.remove(lane)
    guard let calls = self.lanes[lane], let first = calls.first, let item = self.items[first], !item.isGone,
      item.replacement == nil
    else { return }
    switch item.activity {
    case .claimed, .running: self.unblock(lane)
    case .waiting(let continuation, let caller):
      self.unblock(lane)
      guard self.ask(for: self.right(of: item)) else { return }
      self.edit(first) { $0.activity = .running(isReplay: false) }
      self.actions.turns.append((continuation, .granted))
      self.actions.callers.append(caller)
    case .none where self.isStopped: self.endWaits(in: lane)
    case .none where item.isElsewhere:
      // The other process has the right. This process watches the call until it is made or the other process has ended.
      self.rights.lanesElsewhere.insert(lane)
      self.noteResumable(first)
      self.endAsking(self.right(of: item))
      self.actions.needsLease = true
    case .none:
      // The call is made again if it is due, or if a caller waits behind it.
      guard !item.isHeld, item.isDue || calls.callerCount > 0 || item.fate.isAwaited else {
        self.block(lane)
        // The call before it may have held it up.
        return self.noteResumable(first)
      }
      self.unblock(lane)
      let isAsked = self.rights.askedForReplays.contains(lane)
      // Callers do not wait for another scope: the call that they wait for may be part of a call of that scope.
      let hasRoom = isAsked || self.hasRoomForScope && (isNext || self.waitingLanes.isEmpty)
      if calls.callerCount == 0, !hasRoom { return self.waitingLanes.append(lane) }
      if self.ask(for: self.right(of: item)) { return self.beginReplay(of: first) }
      if calls.callerCount == 0 { self.rights.askedForReplays.insert(lane) }
    }
  }

  mutating func beginReplay(of place: Place) {
    let forgotten = self.edit(place) { item in
      item.activity = .running(isReplay: true)
      item.replay = .none
      return item.fate.reopen()
    }
    if let forgotten = forgotten.flatMap({ $0 }) { self.actions.outcomes.append(forgotten) }
    self.actions.replays.append(place)
  }

  /// Makes a journal that resumes by itself check the first call of a lane, because an obstacle may be gone.
  private mutating func noteResumable(_ first: Place) {
    guard let item = self.items[first], !item.isHeld, !item.replay.isCancelled, self.mayBeResumed(item) else { return }
    self.actions.resumable.append(first)
  }

  /// Ends the replays behind the first call of a lane, if that call is not made now.
  private mutating func block(_ lane: String) {
    guard let calls = self.lanes[lane], let first = calls.first else { return }
    self.noteResumable(first)
    let isNew = !calls.isBlocked
    self.lanes[lane]?.isBlocked = true
    if isNew || calls.dueCount > 0 {
      if self.items[first]?.isDue == true { self.endDue(first) }
      for place in calls.behindFirst {
        if self.items[place]?.isDue == true { self.endDue(place) }
        if isNew, case .waiting(_, let caller)? = self.items[place]?.activity { self.actions.blocked.append(caller) }
      }
    }
    // An entry without a caller and without an obstacle is only waiting.
    guard let item = self.items[first], item.isHeld else { return }
    self.shown.blocked[lane] = BlockingCall(place: first, id: item.id)
    self.actions.isChanged = true
    self.showBlocking()
  }

  private mutating func unblock(_ lane: String) {
    if let calls = self.lanes[lane], calls.isBlocked {
      self.lanes[lane]?.isBlocked = false
      for place in calls.all {
        if case .waiting(_, let caller)? = self.items[place]?.activity { self.actions.unblocked.append(caller) }
      }
    }
    guard self.shown.blocked.removeValue(forKey: lane) != nil else { return }
    self.actions.isChanged = true
    self.showBlocking()
  }

  // MARK: - Calls without a scope

  /// Begins the replays of calls without a scope, up to the number that may be made at once.
  mutating func advanceWithoutScope() {
    while !self.isStopped, self.replaysWithoutScope < self.maximumReplays, let place = self.dueWithoutScope.popLast() {
      guard let item = self.items[place], item.activity.isNone, item.isDue, !item.isGone, !item.isElsewhere,
        item.replacement == nil
      else { continue }
      let right = self.right(of: item)
      guard self.ask(for: right) else {
        self.rights.dueCalls[right, default: []].append(place)
        continue
      }
      self.replaysWithoutScope += 1
      self.beginReplay(of: place)
    }
  }

  mutating func endReplayWithoutScope() {
    self.replaysWithoutScope -= 1
    self.advanceWithoutScope()
  }

  // MARK: - Resumptions

  /// Makes a call due, so that it is made again at its turn.
  mutating func makeDue(_ place: Place, in resumption: Int) {
    guard !self.isStopped, let item = self.items[place], !item.isDue else { return }
    self.setRetry(of: place, at: nil)
    self.edit(place) { item in
      item.resumption = resumption
      item.hold = .none
    }
    self.dueCounts[resumption, default: 0] += 1
    self.actions.needsLease = true
    if let lane = item.lane {
      if item.isInLane { self.lanes[lane]?.dueCount += 1 }
    } else {
      self.dueWithoutScope.append(place)
    }
  }

  /// Ends the part of a resumption that concerns a call, and the waits for it.
  mutating func endDue(_ place: Place) {
    guard let item = self.items[place] else { return }
    self.actions.signals += item.replayWaiters
    self.items[place]?.replayWaiters = []
    guard item.isDue else { return }
    self.endResumption(of: place)
    if item.isInLane, let lane = item.lane { self.lanes[lane]?.dueCount -= 1 }
    let count = (self.dueCounts[item.resumption] ?? 0) - 1
    self.dueCounts[item.resumption] = count > 0 ? count : nil
    guard count <= 0, !self.resumptionWaiters.isEmpty else { return }
    let oldest = self.dueCounts.keys.min() ?? .max
    self.actions.signals += self.resumptionWaiters.filter { $0.resumption < oldest }.map(\.signal)
    self.resumptionWaiters.removeAll { $0.resumption < oldest }
  }

  /// Adds a caller that waits until a resumption and the earlier ones have ended and the stores show that. Returns false
  /// if they do.
  mutating func waitForEnd(of resumption: Int, _ signal: AwaitedOutcome<Void>) -> Bool {
    guard self.dueCounts.keys.contains(where: { $0 <= resumption }) else {
      // The stores may not show how the last ones have ended yet.
      if self.view.isBehind { self.actions.signals.append(signal) }
      return self.view.isBehind
    }
    self.resumptionWaiters.append((resumption, signal))
    return true
  }
}

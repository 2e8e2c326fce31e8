internal import OperationCore
internal import OperationFoundation

/// The leases that a journal needs.
struct JournalRightsNeed: Sendable {
  /// The rights with leases to take or to renew.
  let rights: Set<JournalRight>
  /// Whether other processes, which may end, make calls that are to be made again.
  let isWatching: Bool
}

extension JournalState {
  /// The right that a call needs.
  func right(of item: Item) -> JournalRight { self.right(ofLane: item.lane, owner: item.record?.owner) }

  /// The right that a call needs; nil if its entry was removed.
  func right(of place: Place) -> JournalRight? { self.items[place].map { self.right(of: $0) } }

  func right(ofLane lane: String?, owner: String?) -> JournalRight { JournalRight(ofLane: lane, owner: owner) }

  func maySend(_ right: JournalRight) -> Bool { self.rights.held.map { $0.contains(right) } ?? true }

  func maySend(_ place: Place) -> Bool { self.right(of: place).map { self.maySend($0) } ?? true }

  /// Asks for a right, unless it is held. Returns whether it is.
  @discardableResult
  mutating func ask(for right: JournalRight) -> Bool {
    if self.maySend(right) { return true }
    self.rights.asked.insert(right)
    self.actions.needsLease = true
    return false
  }

  /// Whether calls are made, or are to be made, with a right.
  func isNeeded(_ right: JournalRight) -> Bool {
    if case .scope(let lane) = right, self.rights.lanesElsewhere.contains(lane) { return false }
    if self.rights.needs[right] != nil || self.rights.sendWaiters[right] != nil
      || self.rights.decisionWaiters[right] != nil
    {
      return true
    }
    switch right {
    case .journal(nil): return self.lanes.keys.contains { self.right(ofLane: $0, owner: nil) == right }
    // This lease says that the process lives.
    case .journal(let owner): return owner == self.owner && self.ownCount > 0
    case .scope(let lane):
      return self.lanes[lane]?.first.flatMap { self.items[$0]?.fate.isAwaited } ?? false
    }
  }

  /// Returns the leases that are needed now.
  ///
  /// - Parameter held: The rights whose leases are held.
  /// - Returns: The need.
  func rightsNeed(holding held: Set<JournalRight>) -> JournalRightsNeed {
    var rights = self.rights.asked.union(held.filter { self.isNeeded($0) })
    if self.ownCount > 0 { rights.insert(.journal(self.owner)) }
    return JournalRightsNeed(rights: rights, isWatching: self.rights.dueElsewhere > 0 || self.isAnyoneBehindOthers)
  }

  /// Whether a call waits behind a call that another process makes.
  private var isAnyoneBehindOthers: Bool {
    self.rights.lanesElsewhere.contains { lane in
      self.lanes[lane].map { $0.callerCount > 0 || $0.dueCount > 0 } ?? false
    }
  }

  // MARK: - Leases of other processes

  /// Notes how long other processes have leases, unless they renew them.
  ///
  /// - Parameters:
  ///   - leases: The rights with the times that are left.
  ///   - now: The time, by the deadlines.
  ///   - date: The date, by the clock of the client, for those who look at the entries.
  mutating func noteLeases(_ leases: [JournalRight: Duration], at now: Duration, _ date: Date) {
    for (right, rest) in leases {
      self.rights.others[right] = now + rest
      if self.shown.noteLease(of: right, until: date + rest.seconds) { self.showWaits() }
    }
  }

  mutating func forgetLease(of right: JournalRight) {
    self.rights.others[right] = nil
    if self.shown.leases.removeValue(forKey: right) != nil { self.showWaits() }
  }

  /// Notes which journals of other processes live after their entries were read: their leases, and none else.
  mutating func noteLiving(_ living: [String: Duration], at now: Duration, _ date: Date) {
    for case .journal(let owner?) in self.rights.others.keys where living[owner] == nil {
      if !self.rights.asked.contains(.journal(owner)) { self.forgetLease(of: .journal(owner)) }
    }
    self.noteLeases(Dictionary(uniqueKeysWithValues: living.map { (.journal($0), $1) }), at: now, date)
  }

  /// Until when another process has the right to make a call, by the deadlines; nil if none does.
  func leaseEnd(of item: Item) -> Duration? {
    self.rights.others[.ofWait(isElsewhere: item.isElsewhere, lane: item.lane, owner: item.record?.owner)]
  }

  private mutating func showWaits() {
    self.actions.isChanged = true
    self.showBlocking()
  }

  // MARK: - Decisions

  /// Begins the calls that have waited for these rights.
  mutating func grant(_ rights: Set<JournalRight>) {
    let granted = rights.filter { right in
      self.endAsking(right)
      self.forgetLease(of: right)
      guard self.rights.held?.insert(right).inserted == true else { return false }
      self.actions.signals += self.rights.sendWaiters.removeValue(forKey: right) ?? []
      return true
    }
    for right in granted {
      switch right {
      case .scope(let lane): self.advance(lane)
      case .journal(let owner):
        if owner == self.owner { self.beginWaitingWithoutScope() }
        if owner == nil {
          for lane in self.lanes.keys where self.right(ofLane: lane, owner: nil) == right { self.advance(lane) }
        }
        self.dueWithoutScope += self.rights.dueCalls.removeValue(forKey: right) ?? []
        self.dueWithoutScope.sort(by: >)
        self.advanceWithoutScope()
      }
    }
  }

  /// Records that other processes have these rights, or that the storage could not say. Rights that are still needed
  /// are asked for again.
  mutating func refuse(_ rights: Set<JournalRight>) {
    let needsLease = self.actions.needsLease
    self.rights.held?.subtract(rights)
    for right in rights {
      self.actions.signals += self.rights.decisionWaiters.removeValue(forKey: right) ?? []
      if !self.isNeeded(right) {
        self.endAsking(right)
        self.forgetLease(of: right)
        self.rights.dueCalls[right] = nil
      } else if case .scope(let lane) = right, self.rights.askedForReplays.contains(lane), !self.waitingLanes.isEmpty {
        // Another scope is tried in its place.
        self.endAsking(right)
        self.waitingLanes.append(lane)
      }
    }
    self.advance(nil)
    // These rights are asked for again after a while.
    self.actions.needsLease = needsLease
  }

  mutating func endAsking(_ right: JournalRight) {
    self.rights.asked.remove(right)
    if case .scope(let lane) = right { self.rights.askedForReplays.remove(lane) }
    self.actions.signals += self.rights.decisionWaiters.removeValue(forKey: right) ?? []
  }

  /// Gives up and returns the given rights that are not needed. No call begins with them from now on.
  mutating func giveUp(_ rights: Set<JournalRight>) -> Set<JournalRight> {
    let unneeded = rights.filter { !self.isNeeded($0) && !self.rights.asked.contains($0) }
    self.rights.held?.subtract(unneeded)
    return unneeded
  }

  private mutating func beginWaitingWithoutScope() {
    for place in self.waitingWithoutScope where self.items[place]?.replacement == nil {
      self.waitingWithoutScope.remove(place)
      guard case .waiting(let continuation, let caller)? = self.items[place]?.activity else { continue }
      self.edit(place) { $0.activity = .running(isReplay: false) }
      self.actions.turns.append((continuation, .granted))
      self.actions.callers.append(caller)
    }
  }
}

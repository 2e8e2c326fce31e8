internal import OperationCore
internal import OperationFoundation

/// The leases that a journal needs.
struct JournalLeasesNeed: Sendable {
  /// The leases to take or to renew.
  let leaseKeys: Set<JournalLeaseKey>
  /// Whether other processes, which may end, make calls that are to be made again.
  let isWatching: Bool
}

extension JournalState {
  /// The lease that a call needs; nil if its entry was removed.
  func leaseKey(of position: Position) -> JournalLeaseKey? { self.items[position]?.leaseKey }

  // Calls of these two in a step that changes the state would copy all of it.
  @inline(__always)
  func maySend(_ leaseKey: JournalLeaseKey) -> Bool { self.leases.held.map { $0.contains(leaseKey) } ?? true }

  @inline(__always)
  func maySend(_ position: Position) -> Bool {
    guard self.leases.held != nil, let leaseKey = self.leaseKey(of: position) else { return true }
    return self.maySend(leaseKey)
  }

  /// Asks for a lease, unless it is held. Returns whether it is.
  @discardableResult
  mutating func ask(for leaseKey: JournalLeaseKey) -> Bool {
    if self.maySend(leaseKey) { return true }
    self.leases.asked.insert(leaseKey)
    self.actions.needsLease = true
    return false
  }

  /// Whether calls are made, or are to be made, with a lease.
  func isNeeded(_ leaseKey: JournalLeaseKey) -> Bool {
    if case .scope(let scope) = leaseKey, self.leases.scopesElsewhere.contains(scope) { return false }
    if self.leases.needs[leaseKey] != nil || self.leases.sendWaiters[leaseKey] != nil
      || self.leases.decisionWaiters[leaseKey] != nil
    {
      return true
    }
    switch leaseKey {
    case .journal(nil): return self.scopes.keys.contains { JournalLeaseKey(ofScope: $0, owner: nil) == leaseKey }
    // This lease says that the process lives.
    case .journal(let owner): return owner == self.owner && self.ownCount > 0
    case .scope(let scope):
      return self.scopes[scope]?.first.flatMap { self.items[$0]?.result.isAwaited } ?? false
    }
  }

  /// Returns the leases that are needed now.
  ///
  /// - Parameter held: The leases that are held.
  /// - Returns: The need.
  func leasesNeed(holding held: Set<JournalLeaseKey>) -> JournalLeasesNeed {
    var leaseKeys = self.leases.asked.union(held.filter { self.isNeeded($0) })
    if self.ownCount > 0 { leaseKeys.insert(.journal(self.owner)) }
    return JournalLeasesNeed(
      leaseKeys: leaseKeys,
      isWatching: self.leases.dueElsewhere > 0 || self.isAnyoneBehindOthers
    )
  }

  /// Whether a call waits behind a call that another process makes.
  private var isAnyoneBehindOthers: Bool {
    self.leases.scopesElsewhere.contains { scope in
      self.scopes[scope].map { $0.callerCount > 0 || $0.dueCount > 0 } ?? false
    }
  }

  // MARK: - Leases of other processes

  /// Notes how long other processes have leases, unless they renew them.
  ///
  /// - Parameters:
  ///   - leases: The leases with the times that are left.
  ///   - now: The time, by the deadlines.
  ///   - date: The date, by the clock of the client, for those who look at the entries.
  mutating func noteLeases(_ leases: [JournalLeaseKey: Duration], at now: Duration, _ date: Date) {
    for (leaseKey, rest) in leases {
      self.leases.others[leaseKey] = now + rest
      if self.shown.noteLease(of: leaseKey, until: date + rest.seconds) { self.showWaits() }
    }
  }

  mutating func forgetLease(of leaseKey: JournalLeaseKey) {
    self.leases.others[leaseKey] = nil
    if self.shown.leases.removeValue(forKey: leaseKey) != nil { self.showWaits() }
  }

  /// Notes which journals of other processes live after their entries were read: their leases, and none else.
  mutating func noteLiving(_ living: [String: Duration], at now: Duration, _ date: Date) {
    for case .journal(let owner?) in self.leases.others.keys where living[owner] == nil {
      if !self.leases.asked.contains(.journal(owner)) { self.forgetLease(of: .journal(owner)) }
    }
    self.noteLeases(Dictionary(uniqueKeysWithValues: living.map { (.journal($0), $1) }), at: now, date)
  }

  /// Until when the lease of another process keeps this one from making a call, by the deadlines; nil if none does.
  func leaseEnd(of item: Item) -> Duration? {
    self.leases.others[.ofWait(isElsewhere: item.isElsewhere, scope: item.scope, owner: item.record?.owner)]
  }

  private mutating func showWaits() {
    self.actions.isChanged = true
    self.showBlocking()
  }

  // MARK: - Decisions

  /// Begins no call with these leases until the changes of other processes were read.
  ///
  /// A call whose acceptance is being answered may count its first body in its entry, which another process may have changed or
  /// removed. The body is counted anew, on the condition that the entry is as it was.
  mutating func awaitReading(of leaseKeys: Set<JournalLeaseKey>) {
    self.leases.held?.subtract(leaseKeys)
    for leaseKey in leaseKeys {
      switch leaseKey {
      case .scope(let scope): self.takeBackAcceptedBodies(of: self.scopes[scope].map { Array($0.all) } ?? [])
      case .journal(let owner) where owner == nil || owner == self.owner:
        self.takeBackAcceptedBodies(of: self.items.keys.filter { self.items[$0]?.leaseKey == leaseKey })
      // Of calls that others have accepted.
      case .journal: break
      }
    }
  }

  private mutating func takeBackAcceptedBodies(of positions: [Position]) {
    for position in positions where self.items[position].map({ !$0.isStored && $0.bodies.areCounted }) ?? false {
      self.endBodies(of: position)
    }
  }

  /// Begins the calls that have waited for these leases.
  mutating func grant(_ leaseKeys: Set<JournalLeaseKey>) {
    let granted = leaseKeys.filter { leaseKey in
      self.endAsking(leaseKey)
      self.forgetLease(of: leaseKey)
      guard self.leases.held?.insert(leaseKey).inserted == true else { return false }
      self.actions.signals += self.leases.removeSendWaiters(of: leaseKey)
      return true
    }
    for leaseKey in granted {
      switch leaseKey {
      case .scope(let scope): self.advance(scope)
      case .journal(let owner):
        if owner == self.owner { self.beginWaitingWithoutScope() }
        if owner == nil {
          for scope in self.scopes.keys where JournalLeaseKey(ofScope: scope, owner: nil) == leaseKey {
            self.advance(scope)
          }
        }
        self.dueWithoutScope += self.leases.dueCalls.removeValue(forKey: leaseKey) ?? []
        self.dueWithoutScope.sort(by: >)
        self.advanceWithoutScope()
      }
    }
  }

  /// Records that other processes have these leases, or that the storage could not say. Leases that are still needed
  /// are asked for again.
  mutating func refuse(_ leaseKeys: Set<JournalLeaseKey>) {
    let needsLease = self.actions.needsLease
    self.leases.held?.subtract(leaseKeys)
    if self.isStopped { self.endWaits(for: leaseKeys) }
    for leaseKey in leaseKeys {
      self.actions.signals += self.leases.decisionWaiters.removeValue(forKey: leaseKey) ?? []
      if !self.isNeeded(leaseKey) {
        self.endAsking(leaseKey)
        self.forgetLease(of: leaseKey)
        self.leases.dueCalls[leaseKey] = nil
      } else if case .scope(let scope) = leaseKey, self.leases.askedForReplays.contains(scope),
        !self.waitingScopes.isEmpty
      {
        // Another scope is tried in its place.
        self.endAsking(leaseKey)
        self.waitingScopes.append(scope)
      }
    }
    self.advance(nil)
    // These leases are asked for again after a while.
    self.actions.needsLease = needsLease
  }

  mutating func endAsking(_ leaseKey: JournalLeaseKey) {
    self.leases.asked.remove(leaseKey)
    if case .scope(let scope) = leaseKey { self.leases.askedForReplays.remove(scope) }
    self.actions.signals += self.leases.decisionWaiters.removeValue(forKey: leaseKey) ?? []
  }

  /// Gives up and returns the given leases that are not needed. No call begins with them from now on.
  mutating func giveUp(_ leaseKeys: Set<JournalLeaseKey>) -> Set<JournalLeaseKey> {
    let unneeded = leaseKeys.filter { !self.isNeeded($0) && !self.leases.asked.contains($0) }
    self.leases.held?.subtract(unneeded)
    return unneeded
  }

  private mutating func beginWaitingWithoutScope() {
    for position in self.waitingWithoutScope where self.items[position]?.replacement == nil {
      self.waitingWithoutScope.remove(position)
      self.endWait(of: position, with: .granted)
    }
  }
}

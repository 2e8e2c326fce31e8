internal import OperationCore

extension JournalState {
  /// Whether the order of its scope allows a call to be made now.
  // A call of it in a step that changes the state would copy all of it.
  @inline(__always)
  func hasTurn(_ position: Position) -> Bool {
    guard let item = self.items[position], let scope = item.scope else { return true }
    return self.scopes[scope]?.first == position
  }

  /// Inserts a call into its scope, at its position in the order, but behind a call that has its turn.
  mutating func enter(_ scope: String, _ position: Position) {
    guard let item = self.items[position], !item.isInQueue else { return }
    self.items[position]?.isInQueue = true
    var calls = self.scopes[scope].take() ?? ScopeQueue()
    calls.insert(position, behindFirst: calls.first.map { self.isRunning($0) } ?? false)
    if item.activity.isCallerInLine { calls.callerCount += 1 }
    if item.isUnnumbered { calls.setUnnumbered(true, position) }
    if item.isDue { calls.dueCount += 1 }
    self.scopes[scope] = calls
  }

  /// Removes a call from its scope, if that has it.
  mutating func leave(_ position: Position) {
    guard let item = self.items[position], item.isInQueue else { return }
    self.items[position]?.isInQueue = false
    guard let scope = item.scope, var calls = self.scopes[scope].take() else { return }
    calls.remove(position)
    if item.activity.isCallerInLine { calls.callerCount -= 1 }
    calls.setUnnumbered(false, position)
    if item.isDue { calls.dueCount -= 1 }
    self.scopes[scope] = calls.isEmpty ? nil : calls
    if calls.isEmpty {
      self.shown.blocked.removeValue(forKey: scope)
      self.leases.scopesElsewhere.remove(scope)
    }
  }

  /// Passes the turn on to the first call of a scope.
  mutating func advance(_ scope: String?) {
    self.advanceScope(scope)
    // The call that has ended may have left room for another scope.
    while self.hasRoomForScope, let next = self.waitingScopes.popFirst() {
      self.advanceScope(next, isNext: true)
    }
  }

  /// Whether there is room for another scope with calls that are made again.
  private var hasRoomForScope: Bool {
    self.replaysInScopes + self.leases.askedForReplays.count < self.maximumScopes
  }

  /// - Parameters:
  ///   - scope: The scope.
  ///   - isNext: Whether the scope is the first of the waiting ones.
  private mutating func advanceScope(_ scope: String?, isNext: Bool = false) {
    guard let scope else { return }
    self.leases.scopesElsewhere.remove(scope)
    guard let calls = self.scopes[scope], let first = calls.first, let item = self.items[first], !item.isGone,
      item.replacement == nil
    else { return }
    switch item.activity {
    case .claimed, .running: self.unblock(scope)
    case .waiting:
      self.unblock(scope)
      if self.ask(for: item.leaseKey) { self.endWait(of: first, with: .granted) }
    case .none where self.isStopped: self.endWaits(in: scope)
    case .none where item.isElsewhere:
      // The other process has the lease. This process watches the call until it is made or the other process has ended.
      self.leases.scopesElsewhere.insert(scope)
      self.noteResumable(first)
      self.endAsking(item.leaseKey)
      self.actions.needsLease = true
    case .none:
      // The call is made again if it is due, or if a caller waits behind it.
      guard !item.isHeld, item.isDue || calls.callerCount > 0 || item.result.isAwaited else {
        self.block(scope)
        // The call before it may have held it up.
        return self.noteResumable(first)
      }
      self.unblock(scope)
      let isAsked = self.leases.askedForReplays.contains(scope)
      // Callers do not wait for another scope: the call that they wait for may be part of a call of that scope.
      let hasRoom = isAsked || self.hasRoomForScope && (isNext || self.waitingScopes.isEmpty)
      if calls.callerCount == 0, !hasRoom { return self.waitingScopes.append(scope) }
      if self.ask(for: item.leaseKey) { return self.beginReplay(of: first) }
      if calls.callerCount == 0 { self.leases.askedForReplays.insert(scope) }
    }
  }

  /// Ends the wait of a caller for its turn, if it waits. If the turn is granted, its call has it.
  mutating func endWait(of position: Position, with turn: JournalTurn) {
    guard case .waiting(let continuation, let caller)? = self.items[position]?.activity else { return }
    self.edit(position) { $0.activity = turn == .granted ? .running(caller.run) : .claimed(caller.run) }
    self.waitingWithoutScope.remove(position)
    self.actions.turns.append((continuation, turn))
    self.actions.callers.append(caller)
  }

  mutating func beginReplay(of position: Position) {
    let forgotten = self.edit(position) { item in
      item.activity = .running(Run(isReplay: true, canEndWithoutBody: false))
      item.replay = .none
      return item.result.reopen()
    }
    if let forgotten = forgotten.flatMap({ $0 }) { self.actions.outcomes.append(forgotten) }
    guard let item = self.items[position] else { return }
    let replay = JournalActions.Replay(position: position, result: item.result, name: item.record?.name ?? "")
    self.actions.replays.append(replay)
  }

  /// Makes a journal that resumes by itself check the first call of a scope, because an obstacle may be gone.
  private mutating func noteResumable(_ first: Position) {
    guard let item = self.items[first], !item.isHeld, !item.replay.isCancelled, self.mayBeResumed(item) else { return }
    self.actions.resumable.append(first)
  }

  /// Ends the replays behind the first call of a scope, if that call is not made now.
  private mutating func block(_ scope: String) {
    guard let calls = self.scopes[scope], let first = calls.first else { return }
    self.noteResumable(first)
    let isNew = !calls.isBlocked
    self.scopes[scope]?.isBlocked = true
    if isNew || calls.dueCount > 0 {
      if self.items[first]?.isDue == true { self.endDue(first) }
      for position in calls.behindFirst {
        if self.items[position]?.isDue == true { self.endDue(position) }
        if isNew, case .waiting(_, let caller)? = self.items[position]?.activity { self.actions.blocked.append(caller) }
      }
    }
    // An entry without a caller and without an obstacle is only waiting.
    guard let item = self.items[first], item.isHeld else { return }
    self.shown.blocked[scope] = BlockingCall(position: first, id: item.id)
    self.actions.isChanged = true
    self.showBlocking()
  }

  private mutating func unblock(_ scope: String) {
    if let calls = self.scopes[scope], calls.isBlocked {
      self.scopes[scope]?.isBlocked = false
      for position in calls.all {
        if case .waiting(_, let caller)? = self.items[position]?.activity { self.actions.unblocked.append(caller) }
      }
    }
    guard self.shown.blocked.removeValue(forKey: scope) != nil else { return }
    self.actions.isChanged = true
    self.showBlocking()
  }

  // MARK: - Calls without a scope

  /// Begins the replays of calls without a scope, up to the number that may be made at once.
  mutating func advanceWithoutScope() {
    while !self.isStopped, self.replaysWithoutScope < self.maximumReplays, let position = self.dueWithoutScope.popLast()
    {
      guard let item = self.items[position], item.activity.isNone, item.isDue, !item.isGone, !item.isElsewhere,
        item.replacement == nil
      else { continue }
      let leaseKey = item.leaseKey
      guard self.ask(for: leaseKey) else {
        self.leases.dueCalls[leaseKey, default: []].append(position)
        continue
      }
      self.replaysWithoutScope += 1
      self.beginReplay(of: position)
    }
  }

  mutating func endReplayWithoutScope() {
    self.replaysWithoutScope -= 1
    self.advanceWithoutScope()
  }

  // MARK: - Resumptions

  /// Makes a call due, so that it is made again at its turn.
  mutating func makeDue(_ position: Position, in resumption: Int) {
    guard !self.isStopped, let item = self.items[position], !item.isDue else { return }
    self.setRetry(of: position, at: nil)
    self.edit(position) { item in
      item.resumption = resumption
      item.hold = .none
    }
    self.dueCounts[resumption, default: 0] += 1
    self.actions.needsLease = true
    if let scope = item.scope {
      if item.isInQueue { self.scopes[scope]?.dueCount += 1 }
    } else {
      self.dueWithoutScope.append(position)
    }
  }

  /// Ends the part of a resumption that concerns a call, and the waits for it.
  mutating func endDue(_ position: Position) {
    guard let item = self.items[position] else { return }
    self.actions.signals += item.replayWaiters
    self.items[position]?.replayWaiters = []
    guard item.isDue else { return }
    self.endResumption(of: position)
    if item.isInQueue, let scope = item.scope { self.scopes[scope]?.dueCount -= 1 }
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

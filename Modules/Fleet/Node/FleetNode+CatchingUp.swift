internal import OperationCore

extension FleetNode {
  /// Takes an epoch of a message or an answer, and asks for the invalidations up to it if it is new.
  ///
  /// - Parameters:
  ///   - epoch: The epoch.
  ///   - time: When an answer was asked for; nil for a message.
  func note(_ epoch: FleetEpoch, askedAt time: Duration? = nil) {
    let isNew = self.state.withLock { state in
      state.seenEpoch = max(state.seenEpoch, epoch)
      let isNew = state.knownEpoch.map { epoch > $0 } ?? true
      if let time, state.knownEpoch == epoch { state.confirmations.confirm(at: time) }
      return isNew
    }
    if isNew { self.catchUp() }
  }

  /// Asks for the invalidations of other nodes, unless that is being done, or the backend is away.
  func catchUp() {
    let begins = self.state.withLock { state in
      if state.isClosed || state.isCatchingUp || state.awaySince != nil { return false }
      state.isCatchingUp = true
      return true
    }
    if begins { self.start("catch up") { await self.performCatchUp() } }
  }

  private func performCatchUp() async {
    while true {
      let answer = await self.askForInvalidations(within: self.settings.lookupTimeout)
      let isDone = self.state.withLock { state in
        // An epoch that was seen while the answer was on its way.
        let isDone =
          if case .success = answer { (state.knownEpoch ?? .zero) >= state.seenEpoch || state.isClosed } else { true }
        if isDone { state.isCatchingUp = false }
        return isDone
      }
      if case .failure(let error) = answer { self.noteFailure(error) }
      if isDone { return }
    }
  }

  /// Asks for the invalidations that the stores do not know, and invalidates those stores.
  func askForInvalidations(within limit: Duration) async -> Result<Void, any Error> {
    let (known, hasRunAlone) = self.state.withLock { state in
      // Those that wait to be sent are not in the answer.
      defer { if state.pending.isEmpty { state.hasRunAlone = false } }
      return (state.knownEpoch, state.hasRunAlone)
    }
    let start = self.deadlines.elapsed
    let answer = await self.call(within: limit) { try await $0.invalidations(since: known ?? .zero) }
    switch answer {
    case .success(let invalidations):
      self.apply(invalidations, since: known, hasRunAlone: hasRunAlone)
      self.state.withLock { $0.confirmations.confirm(at: start) }
      return .success(())
    case .failure(let error):
      if hasRunAlone { self.state.withLock { $0.hasRunAlone = true } }
      return .failure(error)
    }
  }

  /// Asks for the invalidations that the stores do not know.
  ///
  /// - Returns: The epoch up to which they know all of them now; nil if the backend has not answered.
  func epochKnownToStores() async -> FleetEpoch? {
    guard case .success = await self.askForInvalidations(within: self.settings.lookupTimeout) else { return nil }
    return self.state.withLock { $0.knownEpoch }
  }

  private func apply(_ invalidations: FleetInvalidations, since known: FleetEpoch?, hasRunAlone: Bool) {
    // Own ones have reached the stores before they were sent. But a run that began without the backend since then may
    // be older than an invalidation that another node has made before it.
    let (isClosed, appliesOwn, applied) = self.state.withLock { state in
      (state.isClosed, hasRunAlone || state.hasRunAlone, state.knownEpoch)
    }
    if isClosed { return }
    switch invalidations {
    // The first answer names what was invalidated at any time: what is older than the join was invalidated then.
    case .listed([], _) where known == nil: break
    case _ where known == nil && !appliesOwn: self.invalidateValuesSinceJoining()
    case .everything: self.invalidateEverything()
    case .listed(let list, _):
      // Another answer may have told the stores meanwhile.
      let rest = list.filter { appliesOwn || ($0.node != self.identity && $0.epoch > applied ?? .zero) }
      self.invalidate(rest.map(\.subject))
    }
    // After the stores: a run that begins now, and finds the epoch known, answers it.
    self.state.withLock { state in
      // An epoch that goes back was never: the backend has lost it, and said that everything may be stale.
      let goesBack = if case .everything(let epoch) = invalidations { epoch < known ?? .zero } else { false }
      if goesBack { state.seenEpoch = invalidations.epoch }
      state.knownEpoch = goesBack ? invalidations.epoch : max(state.knownEpoch ?? .zero, invalidations.epoch)
      state.seenEpoch = max(state.seenEpoch, invalidations.epoch)
    }
    if known == nil { self.endIntroduction(isDone: true) }
  }

  /// Waits for the first answer of the backend, so that the node misses no invalidation of what it looks up.
  ///
  /// - Parameter limit: The longest time to wait.
  /// - Returns: Whether it has come.
  nonisolated(nonsending) func waitForIntroduction(within limit: Duration) async -> Bool {
    let wait = AwaitedOutcome<Bool>()
    let isDone = self.state.withLock { state in
      if state.knownEpoch != nil || state.isClosed || state.awaySince != nil { return true }
      state.introductions.append(wait)
      return false
    }
    if isDone { return true }
    let deadline = FleetPatience(limit, of: self) { wait.decide(false) }
    let isAnswered = await wait.value(cancelled: false)
    deadline.cancel()
    if !isAnswered { self.state.withLock { $0.introductions.removeAll { $0 === wait } } }
    return isAnswered
  }

  func endIntroduction(isDone: Bool) {
    let waits = self.state.withLock { state in
      defer { state.introductions = [] }
      return state.introductions
    }
    for wait in waits { wait.decide(isDone) }
  }
}

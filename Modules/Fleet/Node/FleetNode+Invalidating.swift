public import OperationCore
internal import OperationPersistence

extension FleetNode: InvalidationRelay {
  public func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  ) {
    if relay !== self { self.send(subjects.compactMap { FleetNames.subject($0) }) }
  }
}

/// Cleared and reset stores are invalidated at the other nodes, so that none serves what this one has thrown away.
extension FleetNode: OperationClientPreloading {
  public func discardPreloaded(matching path: OperationPath) {
    self.send([FleetNames.subject(longestPrefixOf: path)])
  }

  public func discardPreloaded(at path: OperationPath) {
    self.send([FleetNames.subject(longestPrefixOf: path)])
  }
}

extension FleetNode: OperationClientFlushable {
  /// Sends the invalidations that were not sent yet, and waits until values are stored and leases are given back.
  ///
  /// If the client has stopped its automatic runs, as in a graceful shutdown, and none is under way, the node leaves the fleet
  /// after that: see ``leave()``.
  ///
  /// - Returns: Whether all of them were sent, within the ``FleetSettings/lookupTimeout``.
  public func flush() async -> Bool {
    await self.waitForEndings()
    let isSent = await self.sendPending(within: self.settings.lookupTimeout)
    if let client = self.joinedClient, client.automaticRunsAreStopped.isOn, client.isFetching() == 0 {
      self.leave()
      await self.waitForEndings()
    }
    return isSent
  }

  /// Each of their calls has a time limit.
  private func waitForEndings() async {
    for task in self.state.withLock({ Array($0.endings.values) }) { await task.value }
  }
}

// MARK: - Sending

extension FleetNode {
  /// Whether there are invalidations that the backend has not acknowledged.
  package var hasPendingInvalidations: Bool { self.state.withLock { !$0.pending.isEmpty } }

  private func send(_ subjects: [FleetSubject]) {
    if subjects.isEmpty { return }
    let isAway = self.state.withLock { state in
      if state.isClosed { return true }
      state.pending.add(subjects, maximum: self.settings.maximumPendingInvalidations)
      return state.awaySince != nil
    }
    // They are sent when the backend is back.
    if !isAway { self.sendPending() }
  }

  /// Sends what is pending, unless it is being sent.
  func sendPending() {
    let batch = self.state.withLock { $0.isClosed ? nil : $0.pending.beginSending() }
    guard let batch else { return }
    self.start("send invalidations") { await self.send(batch: batch) }
  }

  private func send(batch: [FleetSubject]) async {
    let identity = self.identity
    let known = self.state.withLock { $0.knownEpoch }
    let answer = await self.call(within: self.settings.lookupTimeout) { try await $0.invalidate(batch, by: identity) }
    let isSent = if case .success = answer { true } else { false }
    let now = self.deadlines.elapsed
    let done = self.state.withLock { state in
      if isSent { state.sentAt = now }
      return state.pending.endSending(isSent: isSent, maximum: self.settings.maximumPendingInvalidations)
    }
    for outcome in done { outcome.decide(isSent) }
    switch answer {
    case .success(let epoch):
      // The backend keeps the last invalidation of a subject, and this one may have taken the place of one by another
      // node that this one has not heard of. Runs that began since the own invalidation may not have seen it.
      if let known, epoch.rawValue > known.rawValue + 1 { self.invalidate(batch) }
      self.note(epoch)
      self.sendPending()
    case .failure(let error): self.noteFailure(error)
    }
  }

  /// Waits until all invalidations that were made until now are sent.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait.
  ///   - isPatient: Whether to wait for longer while the backend answers others in a burst.
  /// - Returns: Whether they were sent.
  nonisolated(nonsending) func sendPending(within limit: Duration, isPatient: Bool = false) async -> Bool {
    let (wait, isAway) = self.state.withLock { state in
      let isAway = state.awaySince != nil && !state.pending.isEmpty
      return (isAway ? nil : state.pending.waitForAll(), isAway)
    }
    if isAway { return false }
    guard let wait else { return true }
    let end: @Sendable () -> Void = { wait.decide(false) }
    let patience = isPatient ? FleetPatience(limit, of: self, end) : nil
    let deadline = isPatient ? nil : self.deadlines.schedule(after: limit, end)
    let isSent = await wait.value(cancelled: false)
    patience?.cancel()
    deadline?.cancel()
    if !isSent { self.state.withLock { $0.pending.forget(wait) } }
    return isSent
  }
}

internal import OperationCore

/// What a node knows of the moment up to which its stores know all invalidations, and the readers that wait for a later one.
struct FleetConfirmations: Sendable {
  /// The stores know all invalidations that the backend had at this time, by the deadlines of the node.
  private var confirmedAt: Duration?
  private var waits: [AwaitedOutcome<Void>] = []
  private var isAsking = false

  mutating func confirm(at time: Duration) {
    self.confirmedAt = max(self.confirmedAt ?? time, time)
  }

  /// Whether that was at this time, or later.
  func isConfirmed(since time: Duration) -> Bool { self.confirmedAt.map { $0 > time } ?? false }

  /// Adds a reader, whose answer has to be asked for from now on. Returns whether the caller has to ask.
  mutating func add(_ wait: AwaitedOutcome<Void>) -> Bool {
    self.waits.append(wait)
    defer { self.isAsking = true }
    return !self.isAsking
  }

  /// The readers that wait for the next answer; nil, at the end, if there are none.
  mutating func next() -> [AwaitedOutcome<Void>]? {
    if self.waits.isEmpty {
      self.isAsking = false
      return nil
    }
    return self.removeAll()
  }

  mutating func removeAll() -> [AwaitedOutcome<Void>] {
    defer { self.waits = [] }
    return self.waits
  }
}

extension FleetNode {
  /// The part of a read lease for which values are read. The clock of another node may be a little faster.
  private static let usedShare = 0.75

  /// Makes sure that the stores know each invalidation whose author was told that it has reached all nodes.
  ///
  /// Within the ``FleetSettings/readLease`` of an answer it returns at once. Otherwise all readers of the moment ask together.
  /// It returns within the ``FleetSettings/lookupTimeout``, and at once while the backend is away.
  nonisolated(nonsending) func confirmEpoch() async {
    guard let lease = self.settings.readLease else { return }
    let (wait, now) = (AwaitedOutcome<Void>(), self.deadlines.elapsed)
    let begins = self.state.withLock { state -> Bool? in
      if state.isClosed || state.awaySince != nil || state.knownEpoch == nil { return nil }
      return state.confirmations.isConfirmed(since: now - lease * Self.usedShare) ? nil : state.confirmations.add(wait)
    }
    guard let begins else { return }
    if begins { self.start("compare epochs") { await self.confirmEpochs() } }
    let deadline = self.deadlines.schedule(after: self.settings.lookupTimeout) { wait.decide() }
    await wait.value(cancelled: ())
    deadline.cancel()
  }

  private func confirmEpochs() async {
    while let waits = self.state.withLock({ $0.confirmations.next() }) {
      let answer = await self.askForInvalidations(within: self.settings.lookupTimeout)
      if case .failure(let error) = answer { self.noteFailure(error) }
      for wait in waits { wait.decide() }
    }
  }

  /// Waits until no node reads what this one has invalidated, as far as they reach the backend.
  ///
  /// The invalidations have to be sent, and the ``FleetSettings/readLease`` of the other nodes has to end, which may have begun
  /// just before. It returns within the ``FleetSettings/lookupTimeout`` and the lease, and at once while the backend is away.
  public nonisolated(nonsending) func invalidationsSettled() async {
    guard await self.sendPending(within: self.settings.lookupTimeout), let lease = self.settings.readLease,
      let sentAt = self.state.withLock({ $0.isClosed ? nil : $0.sentAt })
    else { return }
    let remaining = sentAt + lease - self.deadlines.elapsed
    guard remaining > .zero else { return }
    let wait = AwaitedOutcome<Void>()
    let deadline = self.deadlines.schedule(after: remaining) { wait.decide() }
    await wait.value(cancelled: ())
    deadline.cancel()
  }
}

/// Lets the readers of a store ask for invalidations that the node has not heard of, before they get the value of the store.
final class FleetReads: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    // A run of its own asks the backend, unless the operation is derived. One that is under way may have asked too early for
    // this caller.
    if !call.needsRun || call.context.hasSources || call.store.store?.state.isLoading == true {
      await call.context.operationClient?.fleet?.confirmEpoch()
    }
    return await call.proceed()
  }
}

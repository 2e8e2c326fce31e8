internal import OperationCore

/// The right of a run to call the operation.
struct FleetAdmission: Sendable {
  /// The lease; nil for a run without the backend.
  let lease: FleetLease?
  /// The epoch that the run has seen.
  let epoch: FleetEpoch
  /// What is left of the time that the backend may delay the call.
  let timeLeft: Duration
  /// Renews the lease until it is cancelled.
  let renewal: FleetRenewal?

  var isAlone: Bool { self.lease == nil }

  /// The same right for a value that has seen another epoch.
  func seeing(_ epoch: FleetEpoch) -> Self {
    Self(lease: self.lease, epoch: epoch, timeLeft: self.timeLeft, renewal: self.renewal)
  }
}

extension FleetNode {
  /// How a run goes on that has asked for a value.
  enum Entry: Sendable {
    /// A value of the backend, and when that was asked for it.
    case value(FleetValue, OperationFleetOrigin.Source, askedAt: Duration)
    case admitted(FleetAdmission)
    case cancelled
  }

  /// Gets a value, or waits for the run of another node, or gets the right to run.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - knownRevision: The revision of a value that is not wanted.
  /// - Returns: How the run goes on: within the ``FleetSettings/lookupTimeout``, unless another node runs.
  nonisolated(nonsending) func enter(_ key: FleetKey, knownRevision: Int64?) async -> Entry {
    let start = self.deadlines.elapsed
    var visit = FleetVisit(key: key, owner: self.nextOwner(), knownRevision: knownRevision, start: start)
    // What this node has invalidated must not come back to it.
    guard await self.waitForIntroduction(within: self.timeLeft(visit)),
      await self.sendPending(within: self.timeLeft(visit), isPatient: true), !self.isAlone
    else { return Task.isCancelled ? .cancelled : self.goAlone() }
    while true {
      switch await self.tryToRun(&visit) {
      case .entered(let entry): return entry
      case .wait(let wait, let remaining):
        let reason = await self.wait(wait, for: key, until: remaining)
        switch reason {
        case .change: break
        case .away, .closed: return self.goAlone()
        case .cancelled: return .cancelled
        }
        // The time with another node's run was not the backend's.
        visit.start = self.deadlines.elapsed
        visit.hasWaited = true
      }
    }
  }

  private func nextOwner() -> String {
    let number = self.state.withLock { state in
      state.lastRun += 1
      return state.lastRun
    }
    return "\(self.identity)#\(number)"
  }

  private func timeLeft(_ visit: FleetVisit) -> Duration {
    max(self.settings.lookupTimeout - (self.deadlines.elapsed - visit.start), .zero)
  }

  /// Lets a run call the operation without the backend, whose failures its calls have noted.
  private func goAlone() -> Entry {
    self.state.withLock { $0.hasRunAlone = true }
    return .admitted(FleetAdmission(lease: nil, epoch: .zero, timeLeft: .zero, renewal: nil))
  }

  // MARK: - Leases

  private enum Attempt {
    case entered(Entry)
    case wait(AwaitedOutcome<WakeReason>, Duration)
  }

  /// Asks for a value and for the lease at once, so that a run that finds no value has asked once before it begins.
  private nonisolated(nonsending) func tryToRun(_ visit: inout FleetVisit) async -> Attempt {
    // Before the request, so that no message about its end is missed.
    let wait = AwaitedOutcome<WakeReason>()
    self.state.withLock { $0.waits.add(wait, for: visit.key, knownRevision: visit.knownRevision) }
    let request = FleetLeaseRequest(
      key: visit.key,
      owner: visit.owner,
      duration: self.settings.leaseDuration,
      knownRevision: visit.knownRevision
    )
    let start = self.deadlines.elapsed
    // What was waited for before was not this request: it has a part of the time in any case.
    let answer = await self.ask(request, within: max(self.timeLeft(visit), self.settings.lookupTimeout / 2))
    let asked = start + answer.waited
    // What the node itself has delayed was not the backend's.
    visit.start += answer.waited
    if case .success(.heldByAnother(_, let remaining)) = answer.result { return .wait(wait, remaining) }
    self.state.withLock { $0.waits.remove(wait, for: visit.key) }
    switch answer.result {
    case .success(.granted(let lease, let epoch)):
      guard self.hold(lease) else { return .entered(self.goAlone()) }
      let renewal = FleetRenewal(of: lease, node: self, end: asked + self.settings.leaseDuration)
      let admission = FleetAdmission(lease: lease, epoch: epoch, timeLeft: self.timeLeft(visit), renewal: renewal)
      return .entered(.admitted(admission))
    case .success(.fresh(let value, _)):
      return .entered(.value(value, visit.hasWaited ? .awaited : .shared, askedAt: asked))
    case .success(.heldByAnother): preconditionFailure("Returned above.")
    case .failure(is CancellationError): return .entered(.cancelled)
    // The backend may have granted the lease. It ends by its time.
    case .failure, nil: return .entered(self.goAlone())
    }
  }

  private nonisolated(nonsending) func wait(
    _ wait: AwaitedOutcome<WakeReason>,
    for key: FleetKey,
    until remaining: Duration
  ) async -> WakeReason {
    // The backend may have gone away since.
    if self.isAlone { wait.decide(.away) }
    let deadline = self.deadlines.schedule(after: max(remaining, .milliseconds(1))) { wait.decide(.change) }
    self.watch()
    let reason = await wait.value(cancelled: .cancelled)
    deadline.cancel()
    self.state.withLock { $0.waits.remove(wait, for: key) }
    return reason
  }

  // MARK: - The end of a run

  /// Ends a lease without a value.
  func release(_ admission: FleetAdmission) {
    guard let lease = self.end(admission) else { return }
    self.startEnding("give a lease back") { await self.giveBackOrOwe(lease) }
  }

  /// Ends the renewals of a lease.
  ///
  /// - Returns: The lease; nil if the run had none, or the node has left and has given it back.
  private func end(_ admission: FleetAdmission) -> FleetLease? {
    admission.renewal?.cancel()
    guard let lease = admission.lease else { return nil }
    return self.state.withLock { state in
      state.leases.remove(lease)
      return state.isClosed ? nil : lease
    }
  }

  /// Stores the value of a run.
  ///
  /// - Parameters:
  ///   - write: The value.
  ///   - admission: The right under which it was made.
  ///   - completion: Called with the revision of the value, nil if it is not stored, or when the backend may not delay the
  ///     call any longer. The revision may come after that.
  func store(_ write: FleetWrite, _ admission: FleetAdmission, _ completion: @escaping @Sendable (Int64?) -> Void) {
    if self.isAlone {
      self.release(admission)
      return completion(nil)
    }
    // From here on the lease ends with the write, also if the node leaves meanwhile.
    self.state.withLock { $0.leases.remove(write.lease) }
    self.startEnding("store a value") {
      let deadline = self.deadlines.schedule(after: admission.timeLeft) { completion(nil) }
      let answer = await self.callInTurn(within: self.settings.lookupTimeout) { try await $0.store(write) }.result
      admission.renewal?.cancel()
      switch answer {
      case nil:
        completion(nil)
        self.owe(write.lease)
      case .success(let answer):
        // The store must know of the invalidation before it takes the value.
        if answer == .invalidated { _ = await self.askForInvalidations(within: self.settings.lookupTimeout) }
        let revision: Int64? = if case .stored(let revision) = answer { revision } else { nil }
        completion(revision)
        // Other runs of this node need no message.
        self.wake(write.lease.key.text)
      case .failure:
        completion(nil)
        // A backend that refuses this value alone takes the lease back. One that does not answer gets it later.
        if await self.giveBack(write.lease) != nil {
          self.owe(write.lease)
          if !self.isAlone { self.giveBackOwed() }
        }
      }
      deadline.cancel()
    }
  }
}

/// What a run has asked the backend so far.
struct FleetVisit: Sendable {
  let key: FleetKey
  /// Unique for the run, so that two runs of one node do not take a lease from each other.
  let owner: String
  let knownRevision: Int64?
  /// When the backend began to delay the call.
  var start: Duration
  /// Whether the run has waited for another one.
  var hasWaited = false
}

internal import OperationCore

/// The leases of a node: those of runs under way, and those that it could not give back yet.
struct FleetLeases: Sendable {
  /// More of them end by their time.
  private static let maximumOwed = 1_000

  /// By their owners.
  private var leases: [String: FleetLease] = [:]
  /// Those that are not needed any more, and when they end by the deadlines of the node.
  private var ended: [(lease: FleetLease, end: Duration)] = []

  var held: [FleetLease] { Array(self.leases.values) }

  var owed: [FleetLease] { self.ended.map(\.lease) }

  mutating func hold(_ lease: FleetLease) { self.leases[lease.owner] = lease }

  /// The lease is about to end, or has ended.
  mutating func remove(_ lease: FleetLease) { self.leases[lease.owner] = nil }

  /// Keeps a lease until the backend can take it back.
  mutating func owe(_ lease: FleetLease, until end: Duration, now: Duration) {
    self.ended.removeAll { $0.end <= now }
    if self.ended.count < Self.maximumOwed { self.ended.append((lease, end)) }
  }

  /// Those that the backend would still keep for the node.
  mutating func takeOwed(now: Duration) -> [FleetLease] {
    defer { self.ended = [] }
    return self.ended.filter { $0.end > now }.map(\.lease)
  }
}

extension FleetNode {
  /// Notes the lease of a run. False if the node has left meanwhile: then it is given back at once.
  func hold(_ lease: FleetLease) -> Bool {
    let isHeld = self.state.withLock { state in
      if !state.isClosed { state.leases.hold(lease) }
      return !state.isClosed
    }
    if !isHeld { self.startEnding("give a lease back") { _ = await self.giveBack(lease) } }
    return isHeld
  }

  /// Ends a lease at the backend.
  ///
  /// - Returns: The error of a backend that does not answer.
  nonisolated(nonsending) func giveBack(_ lease: FleetLease) async -> (any Error)? {
    switch await self.callInTurn(within: self.settings.lookupTimeout, { try await $0.releaseLease(lease) }).result {
    case .success:
      // Other runs of this node need no message.
      self.wake(lease.key.text)
      return nil
    case .failure(let error): return error
    case nil: return CancellationError()
    }
  }

  /// Ends a lease at the backend, or as soon as it answers again. Until then others would wait for the end of its time.
  nonisolated(nonsending) func giveBackOrOwe(_ lease: FleetLease) async {
    // While the backend is away, only the node itself asks it.
    let isAway = self.state.withLock { $0.awaySince != nil }
    let error = isAway ? nil : await self.giveBack(lease)
    if !isAway, error == nil { return }
    self.owe(lease)
    if let error { self.noteFailure(error) }
  }

  func owe(_ lease: FleetLease) {
    let now = self.deadlines.elapsed
    let end = now + self.settings.leaseDuration
    self.state.withLock { state in
      if !state.isClosed { state.leases.owe(lease, until: end, now: now) }
    }
  }

  /// Gives back what was owed while the backend was away.
  func giveBackOwed() {
    let now = self.deadlines.elapsed
    for lease in self.state.withLock({ $0.leases.takeOwed(now: now) }) {
      self.startEnding("give a lease back") { await self.giveBackOrOwe(lease) }
    }
  }
}

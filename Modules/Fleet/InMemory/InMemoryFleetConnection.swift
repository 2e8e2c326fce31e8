public import OperationCore

/// The connection of one node to an ``InMemoryFleet``.
public final class InMemoryFleetConnection: Sendable {
  private struct State: Sendable {
    var isClosed = false
    var isCut = false
    var handlers: [(number: UInt64, handler: @Sendable (FleetMessage) -> Void)] = []
    /// What ends the calls that wait for an answer, by their numbers.
    var calls: [UInt64: @Sendable (any Error) -> Void] = [:]
    var lastNumber: UInt64 = 0
    var sentCalls = 0
    var receivedMessages = 0
  }

  /// The name of the connection.
  public let name: String
  private let server: FleetServer
  private let state = Locked(State())

  init(to server: FleetServer, name: String) {
    self.server = server
    self.name = name
  }

  /// Whether the network between the node and the backend is cut: what travels then is lost.
  ///
  /// When it is restored, the node is told that it may have missed messages.
  public var isCut: Bool {
    get { self.state.withLock { $0.isCut } }
    set {
      let isRestored = self.state.withLock { state in
        defer { state.isCut = newValue }
        return state.isCut && !newValue
      }
      if isRestored { self.receive(.missed) }
    }
  }

  /// Ends the connection as the death of its process does: calls under way get no answer, and no message arrives.
  public func crash() {
    let released = self.state.withLock { state in
      defer { state.handlers = [] }
      state.isClosed = true
      return state.handlers
    }
    _ = consume released  // Released after unlocking.
  }

  /// Whether no answer can arrive at the node.
  private var hearsNothing: Bool { self.state.withLock { $0.isCut || $0.isClosed } }

  /// The number of calls that the node has made.
  public var sentCalls: Int { self.state.withLock { $0.sentCalls } }

  /// The number of messages that have arrived at the node.
  public var receivedMessages: Int { self.state.withLock { $0.receivedMessages } }

  func receive(_ message: FleetMessage) {
    let handlers = self.state.withLock { state in
      if !state.isClosed { state.receivedMessages += 1 }
      return state.handlers
    }
    for handler in handlers { handler.handler(message) }
  }
}

// MARK: - Calls

extension InMemoryFleetConnection {
  nonisolated(nonsending)
    private func call<Answer: Sendable>(_ step: @escaping FleetServer.Step<Answer>) async throws -> Answer
  {
    let outcome = AwaitedOutcome<Result<Answer, any Error>>()
    let number = try self.begin { outcome.decide(.failure($0)) }
    self.ask(step, number: number) { outcome.decide(.success($0)) }
    let result = await outcome.value(cancelled: .failure(CancellationError()))
    self.end(number)
    return try result.get()
  }

  private func begin(_ fail: @escaping @Sendable (any Error) -> Void) throws -> UInt64 {
    try self.state.withLock { state throws(FleetError) in
      if state.isClosed { throw FleetError.closed("in memory") }
      state.lastNumber += 1
      state.sentCalls += 1
      state.calls[state.lastNumber] = fail
      return state.lastNumber
    }
  }

  private func end(_ number: UInt64) {
    let removed = self.state.withLock { $0.calls.removeValue(forKey: number) }
    _ = consume removed  // Released after unlocking.
  }

  /// Sends the question of a call, and its answer back.
  private func ask<Answer: Sendable>(
    _ step: @escaping FleetServer.Step<Answer>,
    number: UInt64,
    _ answer: @escaping @Sendable (Answer) -> Void
  ) {
    let isLost: @Sendable () -> Void = { [server] in
      server.after(server.network.patience) { self.fail(number) }
    }
    self.server.send(
      { [server] in
        guard !self.isCut, let result = server.perform(step) else { return isLost() }
        server.send({ self.hearsNothing ? isLost() : answer(result) }, lost: isLost)
      },
      lost: isLost
    )
  }

  private func fail(_ number: UInt64) {
    let fail = self.state.withLock { $0.calls.removeValue(forKey: number) }
    fail?(FleetError(code: .unreachable, message: "The backend in memory has not answered. Restore its network."))
  }
}

extension InMemoryFleetConnection: FleetBackend {
  nonisolated(nonsending) public func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
    try await self.call { table, now in (table.lookUp(keys, at: now), nil) }
  }

  nonisolated(nonsending) public func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try await self.call { table, now in (table.acquireLease(request, at: now), nil) }
  }

  nonisolated(nonsending)
    public func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]
  {
    try await self.call { table, now in (requests.map { table.acquireLease($0, at: now) }, nil) }
  }

  nonisolated(nonsending) public func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    try await self.call { table, now in (table.renewLease(lease, for: duration, at: now), nil) }
  }

  nonisolated(nonsending) public func releaseLease(_ lease: FleetLease) async throws {
    try await self.call { table, now in ((), table.releaseLease(lease, at: now)) }
  }

  nonisolated(nonsending) public func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
    try await self.call { table, now in table.store(write, at: now) }
  }

  nonisolated(nonsending) public func invalidate(
    _ subjects: [FleetSubject],
    by node: String
  ) async throws -> FleetEpoch {
    try await self.call { table, _ in table.invalidate(subjects, by: node) }
  }

  nonisolated(nonsending) public func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    try await self.call { table, _ in (table.invalidations(since: epoch), nil) }
  }

  public func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    let number = self.state.withLock { state -> UInt64? in
      if state.isClosed { return nil }
      state.lastNumber += 1
      state.handlers.append((state.lastNumber, handler))
      return state.lastNumber
    }
    guard let number else { return .empty }
    self.server.add(self)
    return OperationSubscription { [weak self] in
      let removed = self?.state.withLock { state in
        state.handlers.firstIndex { $0.number == number }.map { state.handlers.remove(at: $0) }
      }
      _ = consume removed  // Released after unlocking.
    }
  }

  nonisolated(nonsending) public func close() async {
    let (calls, handlers) = self.state.withLock { state in
      defer { (state.calls, state.handlers) = ([:], []) }
      state.isClosed = true
      return (state.calls, state.handlers)
    }
    _ = consume handlers  // Released after unlocking.
    for (_, fail) in calls.sorted(by: { $0.key < $1.key }) { fail(FleetError.closed("in memory")) }
  }
}

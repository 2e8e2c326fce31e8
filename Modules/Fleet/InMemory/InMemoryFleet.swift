public import OperationCore

/// A fleet's backend in the memory of one process, with a network that loses, delays, doubles and reorders.
///
/// ```swift
/// let clock = ManualClock()
/// let network = InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(20)), loss: 0.01)
/// let fleet = InMemoryFleet(network: network, seed: 7, deadlines: clock)
/// client.join(fleet.connect(as: "a"))
/// otherClient.join(fleet.connect(as: "b"))
/// ```
///
/// Without a network it answers at once, for tests of operations and for services of one process. The same seed and the
/// same calls give the same faults again. It is also a ``FleetBackend`` itself: the connection of a first node.
public final class InMemoryFleet: Sendable {
  /// How messages travel, in both directions.
  public struct Network: Hashable, Sendable {
    /// How long a message travels: a random duration of this range, so that a later one may arrive earlier.
    public var latency: ClosedRange<Duration>

    /// The share of messages that do not arrive, from 0 to 1.
    public var loss: Double

    /// The share of messages that arrive twice, from 0 to 1.
    public var duplication: Double

    /// How long a call waits whose question or answer was lost, before it throws. Callers with a limit leave earlier.
    public var patience: Duration

    /// Creates a network; by default one without faults, which takes no time.
    public init(
      latency: ClosedRange<Duration> = .zero ... .zero,
      loss: Double = 0,
      duplication: Double = 0,
      patience: Duration = .seconds(30)
    ) {
      self.latency = latency
      self.loss = loss
      self.duplication = duplication
      self.patience = patience
    }
  }

  let server: FleetServer
  private let first: InMemoryFleetConnection

  /// Creates a backend without values.
  ///
  /// - Parameters:
  ///   - network: How messages travel.
  ///   - seed: Decides which messages are lost, doubled and late.
  ///   - deadlines: The clock of the backend and of the network.
  ///   - maximumValues: The largest number of values. One more removes those that have ended, or the older half.
  ///   - maximumInvalidations: The largest number of subjects whose invalidations are kept. With one more, the older half
  ///     is forgotten, and all values from before them are stale.
  public init(
    network: Network = Network(),
    seed: UInt64 = 0,
    deadlines: any DeadlineSource = .system,
    maximumValues: Int = 100_000,
    maximumInvalidations: Int = 10_000
  ) {
    let table = FleetTable(maximumValues: max(maximumValues, 1), maximumInvalidations: max(maximumInvalidations, 1))
    self.server = FleetServer(table: table, network: network, seed: seed, deadlines: deadlines)
    self.first = InMemoryFleetConnection(to: self.server, name: "first")
  }

  /// Makes the connection of one node.
  ///
  /// - Parameter name: The name of the connection, for those who look.
  /// - Returns: The connection.
  public func connect(as name: String) -> InMemoryFleetConnection {
    InMemoryFleetConnection(to: self.server, name: name)
  }

  /// How messages travel from now on.
  public var network: Network {
    get { self.server.network }
    set { self.server.network = newValue }
  }

  /// Whether the backend answers. While it does not, messages to it are lost, and it keeps what it has.
  public var isRunning: Bool {
    get { self.server.isRunning }
    set { self.server.isRunning = newValue }
  }

  /// Forgets all values, leases and invalidations, as a crash of a backend that keeps them in memory.
  public func loseEverything() {
    self.server.loseEverything()
  }

  /// What the backend has done so far.
  public var statistics: InMemoryFleetStatistics { self.server.statistics }
}

/// What an ``InMemoryFleet`` has done so far.
public struct InMemoryFleetStatistics: Hashable, Sendable {
  /// The number of calls that have arrived, doubled ones included.
  public internal(set) var calls = 0

  /// The number of values that were stored.
  public internal(set) var storedValues = 0

  /// The number of values that were refused.
  public internal(set) var refusedValues = 0

  /// The number of invalidations.
  public internal(set) var invalidations = 0

  /// The number of messages that were sent to nodes, one for each node.
  public internal(set) var messages = 0

  init() {}
}

extension InMemoryFleet: FleetBackend {
  nonisolated(nonsending) public func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
    try await self.first.lookUp(keys)
  }

  nonisolated(nonsending) public func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try await self.first.acquireLease(request)
  }

  nonisolated(nonsending)
    public func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]
  {
    try await self.first.acquireLeases(requests)
  }

  nonisolated(nonsending) public func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    try await self.first.renewLease(lease, for: duration)
  }

  nonisolated(nonsending) public func releaseLease(_ lease: FleetLease) async throws {
    try await self.first.releaseLease(lease)
  }

  nonisolated(nonsending) public func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
    try await self.first.store(write)
  }

  nonisolated(nonsending) public func invalidate(
    _ subjects: [FleetSubject],
    by node: String
  ) async throws -> FleetEpoch {
    try await self.first.invalidate(subjects, by: node)
  }

  nonisolated(nonsending) public func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    try await self.first.invalidations(since: epoch)
  }

  public func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    self.first.messages(handler)
  }

  nonisolated(nonsending) public func close() async {
    await self.first.close()
  }
}

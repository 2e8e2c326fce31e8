import Foundation
import OperationCore
import OperationFleet
import OperationTags
import Synchronization
import TestFixtures

/// A value that knows when its run has begun, by a count of all that matters.
struct Reading: Codable, Hashable, Sendable {
  let item: Int
  /// The count at which the run began that has read it.
  let began: Int
}

/// Several clients in one fleet, on manual time and on one thread: the same seed does the same each time.
final class Fleet: Sendable {
  /// A run of the operation of an item.
  struct Run: Sendable {
    let item: Int
    let node: String
    let began: Int
    let start: Duration
  }

  /// A node: a client, its connection, and what it tells.
  final class Node: Sendable {
    let name: String
    let client: OperationClient
    let connection: InMemoryFleetConnection
    let fleetNode: FleetNode
    private let state = Mutex<(sources: [String: Int], aways: Int)>(([:], 0))
    private let subscription = Mutex<OperationSubscription?>(nil)

    init(name: String, client: OperationClient, connection: InMemoryFleetConnection, fleetNode: FleetNode) {
      self.name = name
      self.client = client
      self.connection = connection
      self.fleetNode = fleetNode
      let subscription = client.onNotice { [weak self] notice in self?.note(notice) }
      self.subscription.withLock { $0 = subscription }
    }

    private func note(_ notice: OperationNotice) {
      self.state.withLock { state in
        switch notice.name {
        case .fleetAway: state.aways += 1
        case .fleetValue:
          if case .string(let source) = notice.attributes["fleet.source"] { state.sources[source, default: 0] += 1 }
        default: break
        }
      }
    }

    /// How often the backend did not answer.
    var aways: Int { self.state.withLock { $0.aways } }

    /// The values by where they came from.
    var sources: [String: Int] { self.state.withLock { $0.sources } }
  }

  let clock = EventClock()
  let executor = SteppedExecutor()
  let backend: InMemoryFleet
  let settings: FleetSettings
  /// How long a run takes.
  let runDuration: Duration
  private let state = Mutex<(count: Int, runs: [Run], completed: [Int: Int], identity: UInt64)>((0, [], [:], 0))

  init(
    network: InMemoryFleet.Network = InMemoryFleet.Network(),
    seed: UInt64 = 0,
    settings: FleetSettings = FleetSettings(nodeName: "node"),
    runDuration: Duration = .milliseconds(100),
    maximumInvalidations: Int = 10_000
  ) {
    self.backend = InMemoryFleet(
      network: network,
      seed: seed,
      deadlines: self.clock,
      maximumInvalidations: maximumInvalidations
    )
    self.settings = settings
    self.runDuration = runDuration
  }

  /// Counts one more thing that happens, and returns the count.
  func count() -> Int {
    self.state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  /// The number of runs of an item that were not cancelled.
  func completedRuns(of item: Int) -> Int { self.state.withLock { $0.completed[item] ?? 0 } }

  var runs: [Run] { self.state.withLock { $0.runs } }

  /// Adds a node whose clock runs at a rate.
  ///
  /// - Parameters:
  ///   - name: The name of the node.
  ///   - rate: The rate of its clock.
  ///   - wrap: Makes the backend of the node from its connection.
  /// - Returns: The node.
  func addNode(
    _ name: String,
    rate: Double = 1,
    over wrap: (InMemoryFleetConnection) -> any FleetBackend = { $0 }
  ) -> Node {
    var context = OperationContext()
    let time = SkewedTime(of: self.clock, rate: rate, offset: rate == 1 ? 0 : 1_000_000 * (rate - 1))
    context.operationDeadlines = time
    context.operationClock = time
    context.operationTaskConfiguration.executorPreference = self.executor
    let client = OperationClient(defaultContext: context)
    let connection = self.backend.connect(as: name)
    var settings = self.settings
    settings.nodeName = name
    let identity = self.state.withLock { state in
      state.identity += 1
      return state.identity
    }
    let fleetNode = client.join(wrap(connection), settings: settings, identity: identity)
    return Node(name: name, client: client, connection: connection, fleetNode: fleetNode)
  }

  func query(_ item: Int, on name: String, isPushed: Bool = false) -> some QueryRequest<Reading, any Error> {
    QueryOperation<Reading, any Error>("items", item % 2, item) { [self] context in
      let began = self.begin(item, on: name)
      try await context.operationDeadlines.sleep(for: self.runDuration)
      self.state.withLock { $0.completed[item, default: 0] += 1 }
      return Reading(item: item, began: began)
    }
    .staleWhenNoValue()
    .enableAutomaticRunning(onlyWhen: .always(true))
    .tagged { [.entity("item", $0.item)] }
    .sharedInFleet(as: "item", timeToLive: .seconds(3_600), isPushed: isPushed)
  }

  private func begin(_ item: Int, on name: String) -> Int {
    let start = self.clock.elapsed
    return self.state.withLock { state in
      state.count += 1
      state.runs.append(Run(item: item, node: name, began: state.count, start: start))
      return state.count
    }
  }

  /// Lets everything happen until a time.
  func advance(to end: Duration) {
    self.executor.runAll()
    while self.clock.advance(upTo: end) { self.executor.runAll() }
    self.executor.runAll()
  }

  func advance(by duration: Duration) {
    self.advance(to: self.clock.elapsed + duration)
  }

  /// Performs a body on the thread of the fleet.
  func perform(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self.executor) { await body() }
  }
}

extension Fleet.Node {
  /// The store of a query.
  func store<Query: QueryRequest>(_ query: Query) -> OperationStore<QueryState<Query.Value, Query.Failure>> {
    self.client.store(for: query)
  }
}

import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// Many keys at once: what waits for its turn at the node says nothing about the backend.
@Suite(.bounded, .warningsAreIssues) struct FleetBurstTests {
  @Test(arguments: ModelRuns.isThorough ? [1_000, 3_000] : [1_000])
  func `One invalidation of many subscribed keys makes one run a key, and sends no node away`(count: Int) {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let lanes = SlowLanes(count: 4, duration: .milliseconds(2), on: fleet)
    let nodes = ["a", "b"].map { name in fleet.addNode(name) { SlowBackend($0, lanes) } }
    fleet.advance(by: .seconds(1))
    let subscriptions = self.subscribe(nodes, to: 0..<count, in: fleet)
    fleet.advance(by: .seconds(30))
    expect(fleet.runs.count, equals: count)
    let calls = lanes.count
    nodes[0].client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(30))
    expect(fleet.runs.count, equals: 2 * count)
    expect(nodes.map(\.aways), equals: [0, 0])
    #expect(nodes.allSatisfy { $0.sources["alone"] == nil })
    // A write for each key, and the other calls are for many keys.
    #expect(lanes.count - calls <= 2 * count, "\(lanes.count - calls)")
    for subscription in subscriptions { subscription.cancel() }
  }

  /// Subscribes on each node to each item.
  private func subscribe(_ nodes: [Fleet.Node], to items: Range<Int>, in fleet: Fleet) -> [OperationSubscription] {
    items.flatMap { item in
      nodes.map { $0.client.store(for: fleet.query(item, on: $0.name)).subscribe(with: QueryEventHandler()) }
    }
  }

  @Test func `A backend that takes leases one by one serves a burst, too`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let lanes = SlowLanes(count: 4, duration: .milliseconds(1), on: fleet)
    let nodes = ["a", "b"].map { name in fleet.addNode(name) { SingleLeaseBackend(SlowBackend($0, lanes)) } }
    fleet.advance(by: .seconds(1))
    let subscriptions = self.subscribe(nodes, to: 0..<1_000, in: fleet)
    fleet.advance(by: .seconds(30))
    expect(fleet.runs.count, equals: 1_000)
    expect(nodes.map(\.aways), equals: [0, 0])
    #expect(nodes.allSatisfy { $0.sources["alone"] == nil })
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `A key that the backend refuses makes one run alone, and the others of its call are served`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let lanes = SlowLanes(count: 4, duration: .milliseconds(2), on: fleet)
    let node = fleet.addNode("a") { SlowBackend($0, lanes, refusing: "/i77/") }
    fleet.advance(by: .seconds(1))
    let calls = lanes.count
    expectWarning(.unusableFleetBackend) {
      let subscriptions = self.subscribe([node], to: 0..<300, in: fleet)
      fleet.advance(by: .seconds(30))
      for subscription in subscriptions { subscription.cancel() }
    }
    expect(node.aways, equals: 0)
    expect(node.sources, equals: ["run": 299, "alone": 1])
    // Each half that has the key is asked for again.
    #expect(lanes.count - calls < 299 + 40, "\(lanes.count - calls)")
  }

  @Test func `A run that finds no value has asked once, and stores its value with a second call`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let node = fleet.addNode("a")
    fleet.advance(by: .seconds(1))
    let calls = node.connection.sentCalls
    _ = fleet.perform { _ = try? await node.client.store(for: fleet.query(1, on: "a")).fetch() }
    fleet.advance(by: .seconds(1))
    expect(node.sources, equals: ["run": 1])
    expect(node.connection.sentCalls, equals: calls + 2)
  }

  @Test func `A caller that leaves while its request is under way leaves no lease behind`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(20)...(.milliseconds(20)))
    let fleet = Fleet(network: network, runDuration: .milliseconds(1))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    let task = fleet.perform { _ = try? await a.client.store(for: fleet.query(1, on: "a")).fetch() }
    fleet.advance(by: .milliseconds(30))
    task.cancel()
    fleet.advance(by: .milliseconds(200))
    let start = fleet.clock.elapsed
    let end = Box<Duration?>(nil)
    _ = fleet.perform {
      _ = try? await b.client.store(for: fleet.query(1, on: "b")).fetch()
      end.value = fleet.clock.elapsed - start
    }
    fleet.advance(by: .seconds(20))
    expect(fleet.runs.map(\.node), equals: ["b"])
    expect(end.value.map { $0 < .milliseconds(100) }, equals: true, "\(String(describing: end.value))")
  }

  @Test func `A burst that the backend answers slowly makes one run a key`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    // Of 48 calls at once, the last has its answer after 1 s.
    let lanes = SlowLanes(count: 1, duration: .milliseconds(20), on: fleet)
    let nodes = ["a", "b"].map { name in fleet.addNode(name) { SlowBackend($0, lanes) } }
    fleet.advance(by: .seconds(1))
    let subscriptions = self.subscribe(nodes, to: 0..<100, in: fleet)
    fleet.advance(by: .seconds(60))
    expect(fleet.runs.count, equals: 100)
    nodes[0].client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(60))
    expect(fleet.runs.count, equals: 200)
    #expect(nodes.allSatisfy { $0.sources["alone"] == nil })
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `A backend that falls silent after slow answers delays no run for longer than twice the lookup timeout`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let lanes = SlowLanes(count: 1, duration: .milliseconds(30), on: fleet)
    let node = fleet.addNode("a") { SlowBackend($0, lanes) }
    fleet.advance(by: .seconds(1))
    let ends = Box<[Duration]>([])
    for item in 0..<2_000 {
      _ = fleet.perform {
        _ = try? await node.client.store(for: fleet.query(item, on: "a")).fetch()
        ends.value.append(fleet.clock.elapsed)
      }
    }
    fleet.advance(by: .seconds(1))
    let served = ends.value.count
    node.connection.isCut = true
    let cut = fleet.clock.elapsed
    fleet.advance(by: .seconds(30))
    #expect((1..<2_000).contains(served))
    expect(ends.value.count, equals: 2_000)
    let last = ends.value.map { $0 - cut }.max() ?? .zero
    #expect(last <= .milliseconds(1_050), "\(last)")
    expect(node.aways, equals: 1)
  }

  @Test func `Of more keys than one call takes, a node looks for each in turn`() {
    let fleet = Fleet(runDuration: .seconds(60))
    let lanes = SlowLanes(count: 16, duration: .milliseconds(1), on: fleet)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b") { SlowBackend($0, lanes) })
    fleet.advance(by: .seconds(1))
    var subscriptions = self.subscribe([a], to: 0..<1_200, in: fleet)
    fleet.advance(by: .seconds(1))
    subscriptions += self.subscribe([b], to: 0..<1_200, in: fleet)
    // Several looks, each a half of the lookup timeout after the one before.
    fleet.advance(by: .seconds(1))
    expect(lanes.lookedUp.count, equals: 1_200)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `An answer that has arrived and waits for its turn is in time`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(240)...(.milliseconds(240)))
    let fleet = Fleet(network: network, runDuration: .milliseconds(1))
    let node = fleet.addNode("a")
    fleet.advance(by: .seconds(1))
    let query = fleet.query(1, on: "a")
    _ = fleet.perform { _ = try? await node.client.store(for: query).fetch() }
    fleet.executor.runAll()
    // The process has no time for anything while the answer and the time limit come.
    let end = fleet.clock.elapsed + .milliseconds(510)
    while fleet.clock.advance(upTo: end) {}
    fleet.advance(by: .seconds(5))
    #expect(node.aways == 0 && node.sources == ["run": 1])
  }

  @Test func `A backend that falls silent in a burst delays no run for longer than the lookup timeout`() {
    let fleet = Fleet(runDuration: .milliseconds(1))
    let lanes = SlowLanes(count: 4, duration: .milliseconds(2), on: fleet)
    let node = fleet.addNode("a") { SlowBackend($0, lanes) }
    fleet.advance(by: .seconds(1))
    let ends = Box<[Duration]>([])
    for item in 0..<1_000 {
      _ = fleet.perform {
        _ = try? await node.client.store(for: fleet.query(item, on: "a")).fetch()
        ends.value.append(fleet.clock.elapsed)
      }
    }
    fleet.advance(by: .milliseconds(100))
    let served = ends.value.count
    node.connection.isCut = true
    let cut = fleet.clock.elapsed
    fleet.advance(by: .seconds(30))
    #expect(served < 1_000)
    expect(ends.value.count, equals: 1_000)
    // The call that was the first to get no answer may have been sent after the cut.
    let last = ends.value.map { $0 - cut }.max() ?? .zero
    #expect(last <= .milliseconds(520), "\(last)")
    expect(node.aways, equals: 1)
  }
}

/// Some connections, each of which makes one call at a time, which takes some time.
final class SlowLanes: Sendable {
  private struct State: Sendable {
    var free: Int
    var waiting: [AwaitedOutcome<Void>] = []
    var count = 0
    var lookedUp: Set<String> = []
  }

  private let duration: Duration
  private let fleet: Fleet
  private let state: Locked<State>

  init(count: Int, duration: Duration, on fleet: Fleet) {
    self.duration = duration
    self.fleet = fleet
    self.state = Locked(State(free: count))
  }

  /// The number of calls so far.
  var count: Int { self.state.withLock { $0.count } }

  /// The texts of the keys that were looked up.
  var lookedUp: Set<String> { self.state.withLock { $0.lookedUp } }

  func note(_ keys: [FleetKey]) { self.state.withLock { $0.lookedUp.formUnion(keys.map(\.text)) } }

  func pass() async {
    let wait = self.state.withLock { state -> AwaitedOutcome<Void>? in
      state.count += 1
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      let wait = AwaitedOutcome<Void>()
      state.waiting.append(wait)
      return wait
    }
    await wait?.value()
    let end = AwaitedOutcome<Void>()
    let deadline = self.fleet.clock.schedule(after: self.duration) { end.decide() }
    await end.value()
    deadline.cancel()
    let next = self.state.withLock { state -> AwaitedOutcome<Void>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.decide()
  }
}

/// A connection to a backend with some lanes.
final class SlowBackend: FleetBackend {
  private let base: InMemoryFleetConnection
  private let lanes: SlowLanes
  /// A part of the keys that are refused.
  private let refusedKey: String?

  init(_ base: InMemoryFleetConnection, _ lanes: SlowLanes, refusing key: String? = nil) {
    self.base = base
    self.lanes = lanes
    self.refusedKey = key
  }

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
    self.lanes.note(keys)
    await self.lanes.pass()
    return try await self.base.lookUp(keys)
  }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    await self.lanes.pass()
    return try await self.base.acquireLease(request)
  }

  func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer] {
    await self.lanes.pass()
    if requests.contains(where: { self.refusedKey.map($0.key.text.contains) ?? false }) {
      throw FleetError(code: .failed, message: "The key is refused. Use another one.")
    }
    return try await self.base.acquireLeases(requests)
  }

  func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    await self.lanes.pass()
    return try await self.base.renewLease(lease, for: duration)
  }

  func releaseLease(_ lease: FleetLease) async throws {
    await self.lanes.pass()
    try await self.base.releaseLease(lease)
  }

  func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
    await self.lanes.pass()
    return try await self.base.store(write)
  }

  func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch {
    await self.lanes.pass()
    return try await self.base.invalidate(subjects, by: node)
  }

  func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    await self.lanes.pass()
    return try await self.base.invalidations(since: epoch)
  }

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    self.base.messages(handler)
  }

  func close() async { await self.base.close() }
}

/// A backend that is asked for leases one by one.
final class SingleLeaseBackend: FleetBackend {
  private let base: any FleetBackend

  init(_ base: any FleetBackend) {
    self.base = base
  }

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup { try await self.base.lookUp(keys) }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try await self.base.acquireLease(request)
  }

  func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    try await self.base.renewLease(lease, for: duration)
  }

  func releaseLease(_ lease: FleetLease) async throws { try await self.base.releaseLease(lease) }

  func store(_ write: FleetWrite) async throws -> FleetWriteAnswer { try await self.base.store(write) }

  func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch {
    try await self.base.invalidate(subjects, by: node)
  }

  func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    try await self.base.invalidations(since: epoch)
  }

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    self.base.messages(handler)
  }

  func close() async { await self.base.close() }
}

import OperationCore
import OperationFleet
import OperationMutation
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// What a node reads after another one has written: never what was there before.
@Suite(.bounded, .warningsAreIssues) struct FleetReadTests {
  /// Which call of an author ends when no node reads what it has invalidated.
  enum Writing: CaseIterable, Sendable {
    case path, tag, paths, mutation, taggedMutation
  }

  /// Reads on a node as a caller that has a fresh value would.
  private func read(_ item: Int, on node: Fleet.Node, in fleet: Fleet) async -> Reading? {
    try? await node.client.ensureValue(for: fleet.query(item, on: node.name))
  }

  private func write(_ writing: Writing, _ item: Int, on node: Fleet.Node) async {
    let client = node.client
    let path: OperationPath = ["items", item % 2, item]
    let edit = MutationOperation("edit") { (item: Int, _) in item }.invalidates { ["items", $0 % 2, $0] }
    let editTagged = MutationOperation("editTagged") { (item: Int, _) in item }
      .invalidates(tagged: { item, _ in [.entity("item", item)] })
    switch writing {
    case .path: await client.invalidate(matching: path, rerunning: .none).settled()
    case .tag: await client.invalidate(tagged: .entity("item", item)).settled()
    case .paths: await client.invalidate(matchingAnyOf: [path, ["other"]]).settled()
    case .mutation: _ = try? await client.store(for: edit).mutate(with: item)
    case .taggedMutation: _ = try? await client.store(for: editTagged).mutate(with: item)
    }
  }

  /// A fleet of two nodes of which the second hears no message.
  private func deafFleet(_ lease: Duration?, latency: Duration = .milliseconds(3)) -> (Fleet, Fleet.Node, Fleet.Node) {
    let network = InMemoryFleet.Network(latency: latency...latency)
    let settings = FleetSettings(nodeName: "node", heartbeat: .seconds(60), readLease: lease)
    let fleet = Fleet(network: network, settings: settings, runDuration: .milliseconds(1))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b") { DeafBackend($0) })
    fleet.advance(by: .seconds(1))
    return (fleet, a, b)
  }

  @Test(arguments: Writing.allCases, [Duration.zero, .milliseconds(10), .milliseconds(100)])
  func `After an author has returned, no other node reads what was there before`(writing: Writing, lease: Duration) {
    let (fleet, a, b) = self.deafFleet(lease)
    let (before, after, written) = (Box<Reading?>(nil), Box<Reading?>(nil), Box(0))
    _ = fleet.perform {
      _ = await self.read(1, on: a, in: fleet)
      before.value = await self.read(1, on: b, in: fleet)
      // The value is fresh there, and the lease has just begun.
      _ = await self.read(1, on: b, in: fleet)
      written.value = fleet.count()
      await self.write(writing, 1, on: a)
      after.value = await self.read(1, on: b, in: fleet)
    }
    fleet.advance(by: .seconds(5))
    #expect(before.value != nil)
    #expect((after.value?.began ?? 0) > written.value)
  }

  @Test func `Without a read lease readers hear of an invalidation by messages alone`() {
    let (fleet, a, b) = self.deafFleet(nil)
    let (before, after) = (Box<Reading?>(nil), Box<Reading?>(nil))
    _ = fleet.perform {
      before.value = await self.read(1, on: b, in: fleet)
      await self.write(.path, 1, on: a)
      after.value = await self.read(1, on: b, in: fleet)
    }
    fleet.advance(by: .seconds(5))
    #expect(before.value != nil)
    expect(after.value, equals: before.value)
  }

  @Test(arguments: Writing.allCases, [true, false])
  func `A caller that joins a run from before an invalidation gets the value of a later one`(
    writing: Writing,
    isOwn: Bool
  ) {
    let network = InMemoryFleet.Network(latency: .milliseconds(3)...(.milliseconds(3)))
    let fleet = Fleet(network: network, runDuration: .milliseconds(300))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b") { DeafBackend($0) })
    fleet.advance(by: .seconds(1))
    _ = fleet.perform { _ = await self.read(1, on: b, in: fleet) }
    fleet.advance(by: .milliseconds(100))
    let (after, written) = (Box<Reading?>(nil), Box(0))
    _ = fleet.perform {
      written.value = fleet.count()
      await self.write(writing, 1, on: isOwn ? b : a)
      after.value = await self.read(1, on: b, in: fleet)
    }
    fleet.advance(by: .seconds(5))
    #expect((after.value?.began ?? 0) > written.value)
  }

  @Test func `Readers within a lease make no call, and those of one moment make one`() {
    let fleet = Fleet(network: InMemoryFleet.Network(latency: .milliseconds(3)...(.milliseconds(3))))
    let node = fleet.addNode("a")
    fleet.advance(by: .seconds(1))
    let reads = Counter()
    func read(_ count: Int) {
      for _ in 0..<count {
        _ = fleet.perform {
          if await self.read(1, on: node, in: fleet) != nil { reads.increment() }
        }
      }
    }
    read(1)
    fleet.advance(by: .seconds(1))
    let calls = node.connection.sentCalls
    read(1_000)
    fleet.advance(by: .milliseconds(6))
    expect(reads.value, equals: 1_001)
    // The first asks alone, and the others after it: 7.5 of the 10 ms of its lease are used, and 6 are gone.
    #expect(node.connection.sentCalls - calls <= 2)
    read(1_000)
    fleet.advance(by: .zero)
    expect(reads.value, equals: 2_001)
    #expect(node.connection.sentCalls - calls <= 2)
    fleet.advance(by: .milliseconds(10))
    read(1)
    fleet.advance(by: .milliseconds(6))
    #expect(node.connection.sentCalls - calls <= 3)
    expect(reads.value, equals: 2_002)
  }

  @Test func `A backend that is away delays an author and a reader for no longer than the lookup timeout, and once`() {
    let (fleet, a, b) = self.deafFleet(.milliseconds(10))
    _ = fleet.perform { for node in [a, b] { _ = await self.read(1, on: node, in: fleet) } }
    fleet.advance(by: .seconds(1))
    fleet.backend.isRunning = false
    let durations = Box<[Duration]>([])
    func measure(_ body: @escaping @Sendable () async -> Void) {
      _ = fleet.perform {
        let start = fleet.clock.elapsed
        await body()
        durations.value.append(fleet.clock.elapsed - start)
      }
    }
    func performAll() {
      measure { await self.write(.path, 2, on: a) }
      measure { await self.write(.mutation, 2, on: a) }
      for _ in 0..<5 { measure { _ = await self.read(1, on: b, in: fleet) } }
      fleet.advance(by: .seconds(3))
    }
    performAll()
    expect(durations.value.count, equals: 7)
    #expect(durations.value.allSatisfy { $0 <= .milliseconds(500) }, "\(durations.value)")
    performAll()
    expect(durations.value.count, equals: 14)
    #expect(durations.value.dropFirst(7).allSatisfy { $0 == .zero }, "\(durations.value)")
    fleet.backend.isRunning = true
    fleet.advance(by: .seconds(20))
  }

  @Test(arguments: 0..<4)
  func `Whatever the network does, a node that reaches the backend reads what was written`(part: UInt64) {
    let (count, checks) = (ModelRuns.count(20, parts: 4, weight: 4), Counter())
    for number in 0..<count {
      let seed = UInt64(number) * 4 + part
      guard let failure = self.failure(seed: seed, checks) else { continue }
      Issue.record("seed \(seed): \(failure)")
      return
    }
    // Not all of them, as nodes are cut off.
    #expect(checks.value > count * 4)
  }

  /// Authors, and readers on other nodes after each of them, in a network that is slow, lossy, doubled and cut.
  private func failure(seed: UInt64, _ checks: Counter) -> String? {
    var generator = SeededGenerator(seed: seed)
    func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    // An answer takes less than half of the lookup timeout.
    let latency = Duration.milliseconds([0, 5, 20, 100][random(4)])
    let network = InMemoryFleet.Network(
      latency: .zero...latency,
      loss: [0, 0, 0.03][random(3)],
      duplication: [0, 0.2][random(2)]
    )
    let settings = FleetSettings(
      nodeName: "node",
      leaseDuration: .seconds(3),
      heartbeat: .seconds(5),
      readLease: .milliseconds([0, 10, 50][random(3)])
    )
    let run = Duration.milliseconds([0, 10, 200][random(3)])
    let fleet = Fleet(network: network, seed: seed, settings: settings, runDuration: run)
    let nodes = (0..<3).map { number in
      let rate: Double = [1, 0.9, 1.1][random(3)]
      return number == 2
        ? fleet.addNode("\(number)", rate: rate) { DeafBackend($0) } : fleet.addNode("\(number)", rate: rate)
    }
    fleet.advance(by: .seconds(1))
    let failures = Log<String>()
    for _ in 0..<30 {
      fleet.advance(by: .milliseconds([0, 1, 5, 50, 300][random(5)]))
      let (author, item) = (nodes[random(3)], random(3))
      let (writing, reader) = (Writing.allCases[random(Writing.allCases.count)], nodes[random(3)])
      switch random(8) {
      case 0: nodes[random(3)].connection.isCut.toggle()
      case 1: for node in nodes { node.connection.isCut = false }
      case 2, 3: _ = fleet.perform { _ = await self.read(item, on: reader, in: fleet) }
      default:
        _ = fleet.perform {
          let written = fleet.count()
          await self.write(writing, item, on: author)
          // What the backend does not know, no other node can.
          if author.fleetNode.hasPendingInvalidations || author.fleetNode.connection != .connected { return }
          let (aways, start) = (reader.aways, fleet.clock.elapsed)
          if reader.fleetNode.connection != .connected { return }
          let value = await self.read(item, on: reader, in: fleet)
          if reader.fleetNode.connection != .connected || reader.aways != aways { return }
          // It did not reach the backend, and the node is about to know that. The fastest clock measures it.
          if fleet.clock.elapsed - start >= settings.lookupTimeout / 1.1 { return }
          checks.increment()
          if let value, value.began > written { return }
          let text = value.map { "\($0.began)" } ?? "nothing"
          failures.append("\(writing) on \(author.name): node \(reader.name) read \(text) after \(written)")
        }
      }
    }
    for node in nodes { node.connection.isCut = false }
    var sound = network
    sound.loss = 0
    fleet.backend.network = sound
    fleet.advance(by: .seconds(40))
    for node in nodes { node.fleetNode.leave() }
    return failures.all.first
  }
}

/// A connection that passes no messages on.
final class DeafBackend: FleetBackend {
  private let base: InMemoryFleetConnection

  init(_ base: InMemoryFleetConnection) {
    self.base = base
  }

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup { try await self.base.lookUp(keys) }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try await self.base.acquireLease(request)
  }

  func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer] {
    try await self.base.acquireLeases(requests)
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

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription { .empty }

  func close() async { await self.base.close() }
}

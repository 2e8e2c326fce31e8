import Foundation
import OperationCore
import OperationEvents
import OperationFallback
import OperationFleet
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Runs and values that nodes share, one situation after the other.
@Suite(.bounded, .warningsAreIssues) struct SharingTests {
  /// Fetches on a node, and returns the value when the time has passed.
  private func fetch(_ item: Int, on node: Fleet.Node, in fleet: Fleet) -> Reading? {
    let result = self.startFetch(item, on: node, in: fleet)
    fleet.advance(by: .seconds(1))
    return result.value
  }

  private func startFetch(_ item: Int, on node: Fleet.Node, in fleet: Fleet) -> Box<Reading?> {
    let result = Box<Reading?>(nil)
    let query = fleet.query(item, on: node.name)
    _ = fleet.perform { result.value = try? await node.client.store(for: query).fetch() }
    return result
  }

  @Test func `A value of one node is the value of the next, with its date`() throws {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b", rate: 1.5))
    let first = self.fetch(1, on: a, in: fleet)
    fleet.advance(by: .seconds(20))
    let before = b.store(fleet.query(1, on: "b")).context.operationClock.now()
    let second = self.fetch(1, on: b, in: fleet)
    #expect(first != nil)
    expect(second, equals: first)
    expect(fleet.runs.count, equals: 1)
    let date = try #require(b.store(fleet.query(1, on: "b")).valueLastUpdatedAt)
    // Stored 20.9 s before, by the clock of the backend; taken from the clock of the node, whatever its date is.
    #expect(abs(before.timeIntervalSince(date) - 20.9) < 0.001)
    expect(b.sources, equals: ["shared": 1])
  }

  @Test func `One node runs, and the others wait for its value`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(5)))
    let fleet = Fleet(network: network, seed: 1)
    let nodes = (0..<8).map { fleet.addNode("\($0)") }
    fleet.advance(by: .seconds(1))
    let results = nodes.map { self.startFetch(1, on: $0, in: fleet) }
    fleet.advance(by: .milliseconds(150))
    expect(fleet.runs.count, equals: 1)
    expect(Set(results.map(\.value)).count, equals: 1)
    #expect(results[0].value != nil)
    expect(nodes.map { $0.sources["awaited"] ?? 0 }.reduce(0, +), equals: 7)
  }

  @Test func `A node that dies is replaced when its lease ends, and writes nothing when it comes back`() {
    let fleet = Fleet(runDuration: .seconds(3))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let first = self.startFetch(1, on: a, in: fleet)
    fleet.advance(by: .milliseconds(500))
    let second = self.startFetch(1, on: b, in: fleet)
    // The network of the holder is cut: it cannot renew, and cannot store.
    a.connection.isCut = true
    fleet.advance(by: .seconds(9))
    expect(fleet.runs.count, equals: 1)
    fleet.advance(by: .seconds(5))
    expect(fleet.runs.map(\.node), equals: ["a", "b"])
    expect(second.value?.began, equals: 2)
    // It has its value for itself.
    expect(first.value?.began, equals: 1)
    a.connection.isCut = false
    fleet.advance(by: .seconds(20))
    expect(self.fetch(1, on: b, in: fleet)?.began, equals: 2)
    expect(self.fetch(1, on: a, in: fleet)?.began, equals: 2)
  }

  @Test func `A slow run keeps its lease`() {
    let fleet = Fleet(runDuration: .seconds(60))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let first = self.startFetch(1, on: a, in: fleet)
    fleet.advance(by: .seconds(1))
    let second = self.startFetch(1, on: b, in: fleet)
    fleet.advance(by: .seconds(58))
    expect(first.value, equals: nil)
    fleet.advance(by: .seconds(2))
    #expect(first.value != nil)
    expect(second.value, equals: first.value)
    expect(fleet.runs.count, equals: 1)
  }

  @Test func `An invalidation reaches all nodes, and reruns for their subscribers once`() {
    let fleet = Fleet(network: InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(5))), seed: 2)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let subscriptions = [a, b].map { $0.store(fleet.query(1, on: $0.name)).subscribe(with: QueryEventHandler()) }
    fleet.advance(by: .seconds(1))
    expect(fleet.runs.count, equals: 1)
    for (number, invalidate) in Self.invalidations.enumerated() {
      let count = fleet.count()
      invalidate(a.client)
      fleet.advance(by: .seconds(1))
      expect(fleet.runs.count, equals: number + 2)
      for node in [a, b] {
        let store = node.store(fleet.query(1, on: node.name))
        #expect(!store.isStale)
        #expect(store.currentValue?.began ?? 0 > count)
      }
    }
    a.client.invalidate(matching: ["items", 0])
    a.client.invalidate(tagged: .entity("item", 2))
    fleet.advance(by: .seconds(1))
    expect(fleet.runs.count, equals: Self.invalidations.count + 1)
    withExtendedLifetime(subscriptions) {}
  }

  private static let invalidations: [@Sendable (OperationClient) -> Void] = [
    { _ = $0.invalidate(matching: ["items", 1, 1]) },
    { _ = $0.invalidate(matching: ["items"]) },
    { _ = $0.invalidate() },
    { _ = $0.invalidate(tagged: .entity("item", 1)) },
    { client in
      client.resetStores(matching: ["items", 1])
      _ = client.invalidate(matching: ["items", 1])
    },
  ]

  @Test func `A value that began before an invalidation is not shared`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let first = self.startFetch(1, on: a, in: fleet)
    fleet.advance(by: .milliseconds(50))
    b.client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(1))
    expect(first.value?.began, equals: 1)
    #expect(a.store(fleet.query(1, on: "a")).isStale)
    expect(self.fetch(1, on: b, in: fleet)?.began, equals: 2)
    expect(self.fetch(1, on: a, in: fleet)?.began, equals: 2)
  }

  @Test func `Without the backend each node goes on alone, and tells it once`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    #expect(self.fetch(1, on: a, in: fleet) != nil)
    #expect(self.fetch(1, on: b, in: fleet) != nil)
    fleet.backend.isRunning = false
    let start = fleet.clock.elapsed
    let result = Box<Duration?>(nil)
    let query = fleet.query(2, on: "a")
    _ = fleet.perform {
      _ = try? await a.client.store(for: query).fetch()
      result.value = fleet.clock.elapsed - start
    }
    fleet.advance(by: .seconds(2))
    // The time for the backend, and the run.
    expect(result.value, equals: .milliseconds(600))
    #expect(self.fetch(3, on: a, in: fleet) != nil)
    a.client.invalidate(matching: ["items", 1])
    #expect(!b.store(fleet.query(1, on: "b")).isStale)
    fleet.advance(by: .seconds(30))
    expect(a.aways, equals: 1)
    expect(a.sources, equals: ["run": 1, "alone": 2])
    fleet.backend.isRunning = true
    fleet.advance(by: .seconds(10))
    #expect(b.store(fleet.query(1, on: "b")).isStale)
    expect(a.fleetNode.connection, equals: .connected)
    #expect(self.fetch(1, on: b, in: fleet)?.began ?? 0 > 1)
  }

  @Test func `More invalidations than a node keeps are one of everything`() {
    var settings = FleetSettings(nodeName: "node")
    settings.maximumPendingInvalidations = 10
    let fleet = Fleet(settings: settings)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    #expect(self.fetch(1, on: b, in: fleet) != nil)
    #expect(!b.store(fleet.query(1, on: "b")).isStale)
    a.connection.isCut = true
    for number in 0..<11 { a.client.invalidate(matching: ["others", number]) }
    fleet.advance(by: .seconds(30))
    #expect(!b.store(fleet.query(1, on: "b")).isStale)
    a.connection.isCut = false
    fleet.advance(by: .seconds(10))
    #expect(b.store(fleet.query(1, on: "b")).isStale)
  }

  @Test func `A pushed value is shown by the subscribers of other nodes without a run of theirs`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let subscription = b.store(fleet.query(1, on: "b", isPushed: true)).subscribe(with: QueryEventHandler())
    fleet.advance(by: .seconds(1))
    expect(fleet.runs.map(\.node), equals: ["b"])
    // The value is lost for the backend, and no node knows of an invalidation.
    fleet.backend.loseEverything()
    let query = fleet.query(1, on: "a", isPushed: true)
    _ = fleet.perform { _ = try? await a.client.store(for: query).fetch() }
    fleet.advance(by: .seconds(1))
    expect(fleet.runs.count, equals: 2)
    expect(b.store(fleet.query(1, on: "b")).currentValue?.began, equals: 2)
    withExtendedLifetime(subscription) {}
  }

  @Test func `An explanation says which node ran`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    _ = self.fetch(1, on: a, in: fleet)
    _ = self.fetch(1, on: b, in: fleet)
    let section = b.store(fleet.query(1, on: "b")).explain().sections.first { $0.title == "Fleet" }
    expect(
      section?.facts,
      equals: [
        "item, version 1", "the node b reaches the backend", "the last value was run on a 900 ms ago",
        "values so far: shared 1",
      ]
    )
  }

  @Test(arguments: [(FallbackUse.shown, 2), (.fresh(for: .seconds(60)), 2), (.asValue, 1)])
  func `A fallback is shared only where it is used as a value`(_ use: FallbackUse, _ runs: Int) {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let calls = Log<Int>()
    let query = QueryOperation<Int, any Error>("unreachable") { _ in
      calls.append(1)
      throw Refused()
    }
    .fallback(-1, use: use).sharedInFleet(as: "unreachable", timeToLive: .seconds(3_600))
    let results = Log<Int?>()
    for node in [a, b] {
      _ = fleet.perform { results.append(try? await node.client.store(for: query).fetch()) }
      fleet.advance(by: .seconds(1))
    }
    expect(results.all, equals: [-1, -1])
    expect(calls.all.count, equals: runs)
  }

  @Test func `A value that is made of others is not shared, and reported once`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let calls = Counter()
    let query = QueryOperation<Int, any Error>("derived") { context in
      context.combineOutcomeStamp(with: ValueStamp(.final))
      return calls.increment()
    }
    .sharedInFleet(as: "derived", timeToLive: .seconds(3_600))
    let results = Log<Int?>()
    expectWarning(.unsharedValue) {
      for node in [a, b, a] {
        _ = fleet.perform { results.append(try? await node.client.store(for: query).fetch()) }
        fleet.advance(by: .seconds(1))
      }
    }
    expect(results.all, equals: [1, 2, 3])
  }

  @Test func `A value that is made of an optimistic update is not shared`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let derived = { @Sendable (isUnconfirmed: Bool) in
      QueryOperation<Int, any Error>("derived") { context in
        context.outcomeStamp = ValueStamp(.final, isUnconfirmed: isUnconfirmed)
        return isUnconfirmed ? 70 : 100
      }
      .sharedInFleet(as: "derived", timeToLive: .seconds(3_600))
    }
    let results = Log<Int?>()
    for (node, isUnconfirmed) in [(a, true), (b, false)] {
      _ = fleet.perform { results.append(try? await node.client.store(for: derived(isUnconfirmed)).fetch()) }
      fleet.advance(by: .seconds(1))
    }
    expect(results.all, equals: [70, 100])
  }
}

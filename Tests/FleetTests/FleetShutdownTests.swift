import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// What a node leaves behind when its program ends, and its snapshots.
@Suite(.bounded, .warningsAreIssues) struct FleetShutdownTests {
  private func flush(_ node: Fleet.Node, in fleet: Fleet) -> Box<Duration?> {
    let (duration, start) = (Box<Duration?>(nil), fleet.clock.elapsed)
    _ = fleet.perform {
      _ = await node.client.flush()
      duration.value = fleet.clock.elapsed - start
    }
    return duration
  }

  @Test func `A client that has stopped its automatic runs leaves with its last flush, and passes everything on`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(20)...(.milliseconds(20)))
    let fleet = Fleet(network: network, runDuration: .seconds(5))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    _ = fleet.perform { _ = try? await b.client.store(for: fleet.query(2, on: "b")).fetch() }
    fleet.advance(by: .seconds(6))
    _ = fleet.perform { _ = try? await a.client.store(for: fleet.query(1, on: "a")).fetch() }
    fleet.advance(by: .seconds(1))
    a.client.stopAutomaticRuns()
    let first = self.flush(a, in: fleet)
    fleet.advance(by: .seconds(1))
    #expect(first.value != nil)
    // The run that is under way may still invalidate something.
    expect(a.fleetNode.connection, equals: .connected)
    a.client.invalidate(matching: ["items", 0, 2])
    fleet.advance(by: .seconds(5))
    #expect(b.store(fleet.query(2, on: "b")).isStale)
    let second = self.flush(a, in: fleet)
    fleet.advance(by: .seconds(1))
    #expect(second.value != nil)
    expect(a.fleetNode.connection, equals: .left)
    expect(a.sources, equals: ["run": 1])
    _ = fleet.perform { _ = try? await b.client.store(for: fleet.query(1, on: "b")).fetch() }
    fleet.advance(by: .seconds(1))
    expect(b.sources, equals: ["run": 1, "shared": 1])
  }

  @Test func `A flush waits until the lease of a failed run is given back`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(20)...(.milliseconds(20)))
    let fleet = Fleet(network: network)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    @Sendable func query(_ node: Fleet.Node) -> some QueryRequest<Int, any Error> {
      QueryOperation<Int, any Error>("failing") { _ in
        if node.name == "a" { throw Refused() }
        return 1
      }
      .sharedInFleet(as: "failing")
    }
    let duration = Box<Duration?>(nil)
    _ = fleet.perform {
      _ = try? await a.client.store(for: query(a)).fetch()
      let start = fleet.clock.elapsed
      _ = await a.client.flush()
      duration.value = fleet.clock.elapsed - start
      // As the end of the process.
      a.connection.crash()
    }
    fleet.advance(by: .seconds(1))
    expect(duration.value, equals: .milliseconds(40))
    let value = Box<Int?>(nil)
    _ = fleet.perform { value.value = try? await b.client.store(for: query(b)).fetch() }
    fleet.advance(by: .seconds(1))
    expect(value.value, equals: 1)
    expect(b.sources, equals: ["run": 1])
  }

  @Test func `A snapshot has the calls of a node, how long they take, and why the backend is away`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(20)...(.milliseconds(20)))
    let fleet = Fleet(network: network, runDuration: .seconds(1))
    let node = fleet.addNode("a")
    fleet.advance(by: .milliseconds(100))
    _ = fleet.perform { _ = try? await node.client.store(for: fleet.query(1, on: "a")).fetch() }
    fleet.advance(by: .milliseconds(500))
    var snapshot = node.fleetNode.snapshot()
    #expect(snapshot.isConnected && snapshot.awayFor == nil && snapshot.cause == nil)
    expect(snapshot.calls, equals: node.connection.sentCalls)
    #expect(snapshot.lastRoundTrip == .milliseconds(40) && snapshot.meanRoundTrip == .milliseconds(40))
    #expect(snapshot.heldLeases == 1 && snapshot.failures == 0)
    #expect(snapshot.gauges["fleet.round_trip"] == 0.04 && snapshot.gauges["fleet.connected"] == 1)
    #expect(snapshot.description.hasPrefix("a: connected, "))
    node.connection.isCut = true
    node.client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(5))
    snapshot = node.fleetNode.snapshot()
    #expect(!snapshot.isConnected && snapshot.aways == 1 && snapshot.failures > 0)
    #expect(snapshot.hasPendingInvalidations)
    expect(snapshot.awayFor.map { $0 > .seconds(4) }, equals: true)
    expect(snapshot.cause?.contains("has not answered within"), equals: true)
    expect(snapshot.gauges["fleet.connected"], equals: 0)
    node.fleetNode.leave()
    #expect(node.fleetNode.snapshot().description.contains("left"))
  }
}

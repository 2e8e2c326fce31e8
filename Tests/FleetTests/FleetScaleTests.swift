import Foundation
import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// Many nodes, keys and requests. `FLEET_SCALE=3` in the environment makes it large, with 3 seconds of requests, and
/// prints what it has measured.
@Suite(.bounded, .warningsAreIssues) struct FleetScaleTests {
  private struct Size {
    var nodes = 10
    var items = 500
    var requestsPerSecond = 200
    var seconds = 4

    static var requested: Size {
      guard let seconds = ProcessInfo.processInfo.environment["FLEET_SCALE"].flatMap({ Int($0) }) else { return Size() }
      return Size(nodes: 100, items: 100_000, requestsPerSecond: 10_000, seconds: max(seconds, 1))
    }
  }

  @Test func `Many nodes run each operation once a period, with few messages`() {
    let size = Size.requested
    var generator = SeededGenerator(seed: 7)
    let network = InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(3)))
    let settings = FleetSettings(nodeName: "node", leaseDuration: .seconds(2), heartbeat: .seconds(5))
    let fleet = Fleet(network: network, seed: 7, settings: settings, runDuration: .milliseconds(50))
    var nodes = (0..<size.nodes).map { fleet.addNode("\($0)") }
    fleet.advance(by: .milliseconds(100))
    var lastInvalidations: [Int: Int] = [:]
    var invalidationCounts: [Int: Int] = [:]
    var crashes = 0
    let answers = Counter()
    let period = Duration.seconds(1) / size.requestsPerSecond
    let total = size.requestsPerSecond * size.seconds
    for number in 0..<total {
      fleet.advance(by: period)
      // Half of the requests go to a hundredth of the items.
      let range = generator.next() % 2 == 0 ? size.items : max(size.items / 100, 1)
      let item = Int(generator.next() % UInt64(range))
      let node = nodes[Int(generator.next() % UInt64(nodes.count))]
      let query = fleet.query(item, on: node.name)
      _ = fleet.perform {
        _ = try? await node.client.ensureValue(for: query)
        answers.increment()
      }
      if number % (size.requestsPerSecond / 10) == 0 {
        let item = Int(generator.next() % UInt64(max(size.items / 100, 1)))
        lastInvalidations[item] = fleet.count()
        invalidationCounts[item, default: 0] += 1
        node.client.invalidate(matching: ["items", item % 2, item])
      }
      // A node dies, and another is cut off for a second.
      if number == total / 4 {
        let dead = nodes.removeLast()
        dead.connection.crash()
        dead.fleetNode.leave()
        crashes += 1
      }
      if number == total / 2 { nodes[0].connection.isCut = true }
      if number == total / 2 + size.requestsPerSecond { nodes[0].connection.isCut = false }
    }
    fleet.advance(by: .seconds(20))
    let stale = self.staleValues(of: nodes, in: fleet, since: lastInvalidations)
    expect(stale, equals: 0)
    #expect(answers.value >= total - size.requestsPerSecond)
    let aways = nodes.map(\.aways).reduce(0, +)
    let alone = nodes.map { $0.sources["alone"] ?? 0 }.reduce(0, +)
    let runs = Dictionary(fleet.runs.map { ($0.item, 1) }, uniquingKeysWith: +)
    let surplus = runs.filter { $0.value > 1 + (invalidationCounts[$0.key] ?? 0) + crashes + aways + alone }
    #expect(surplus.isEmpty)
    self.checkMessages(of: nodes, in: fleet, total: total, crashes: crashes, aways: aways, alone: alone)
    for node in nodes { node.fleetNode.leave() }
  }

  private func staleValues(of nodes: [Fleet.Node], in fleet: Fleet, since lastInvalidations: [Int: Int]) -> Int {
    nodes.reduce(0) { sum, node in
      sum
        + node.client.stores(of: QueryState<Reading, any Error>.self).count { store in
          guard let value = store.currentValue, !store.isStale else { return false }
          return value.began < lastInvalidations[value.item] ?? 0
        }
    }
  }

  /// The bound: two calls for a run that asks (value or lease, write), one for an invalidation made and one for an
  /// invalidation heard, one a heartbeat, one a half lookup timeout while a run waits, and a renewal each third of a lease.
  private func checkMessages(
    of nodes: [Fleet.Node],
    in fleet: Fleet,
    total: Int,
    crashes: Int,
    aways: Int,
    alone: Int
  ) {
    let seconds = fleet.clock.elapsed / .seconds(1)
    let invalidations = fleet.backend.statistics.invalidations
    var (calls, bounds, messages) = (0, 0, 0)
    for node in nodes {
      let asked = node.sources.values.reduce(0, +)
      let bound = asked * 2 + invalidations * 2 + Int(seconds / 5) + Int(seconds * 4) + node.aways * 20 + 10
      #expect(node.connection.sentCalls <= bound)
      calls += node.connection.sentCalls
      bounds += bound
      messages += node.connection.receivedMessages
    }
    guard ProcessInfo.processInfo.environment["FLEET_SCALE"] != nil else { return }
    let sources = nodes.reduce(into: [String: Int]()) { $0.merge($1.sources, uniquingKeysWith: +) }
    print(
      """
      \(nodes.count) nodes, \(total) requests in \(seconds) s: \(fleet.runs.count) runs of \(Set(fleet.runs.map(\.item)).count) \
      items, \(invalidations) invalidations, \(crashes) crashes, \(aways) absences, \(alone) runs alone; values \(sources); \
      a node: \(calls / nodes.count) calls (bound \(bounds / nodes.count)), \(messages / nodes.count) messages; \
      backend \(fleet.backend.statistics)
      """
    )
  }
}

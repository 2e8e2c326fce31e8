import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// What a node has between joining a fleet and the first answer of the backend.
@Suite(.bounded, .warningsAreIssues) struct JoiningTests {
  // The seeds decide which of the two reaches the backend first: the question of the new node, or the invalidation.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func `A value that is set before the first answer is stale after an invalidation by another node`(seed: UInt64) {
    let (fleet, first, second) = self.fleet(seed: seed)
    let store = second.store(fleet.query(1, on: "b"))
    store.currentValue = Reading(item: 1, began: fleet.count())
    first.client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(5))
    #expect(store.isStale)
    for node in [first, second] { node.fleetNode.leave() }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `A run that is not shared and began before the first answer is stale after an invalidation`(seed: UInt64) {
    let (fleet, first, second) = self.fleet(seed: seed)
    let query = QueryOperation<Int, any Error>("items", "alone") { context in
      try await context.operationDeadlines.sleep(for: .milliseconds(300))
      return 1
    }
    let store = second.client.store(for: query.stale(after: .seconds(60)))
    _ = fleet.perform { _ = try? await store.fetch() }
    fleet.advance(by: .milliseconds(1))
    first.client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(5))
    expect(store.currentValue, equals: 1)
    #expect(store.isStale)
    for node in [first, second] { node.fleetNode.leave() }
  }

  /// A fleet with a node that has been there for a second, and one that has just joined.
  private func fleet(seed: UInt64) -> (Fleet, Fleet.Node, Fleet.Node) {
    var network = InMemoryFleet.Network()
    network.latency = .milliseconds(1)...(.milliseconds(100))
    let fleet = Fleet(network: network, seed: seed)
    let first = fleet.addNode("a")
    fleet.advance(by: .seconds(1))
    return (fleet, first, fleet.addNode("b"))
  }
}

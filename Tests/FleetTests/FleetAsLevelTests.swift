import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// A node of a fleet as a level that operations name themselves.
@Suite(.bounded, .warningsAreIssues) struct FleetAsLevelTests {
  /// A value that is not `Codable`.
  private struct Answer: Equatable, Sendable {
    let number: Int
  }

  private func query(on node: Fleet.Node, counting calls: Counter) -> some QueryRequest<Answer, any Error> {
    QueryOperation<Answer, any Error>("answer") { context in
      try await context.operationDeadlines.sleep(for: .milliseconds(100))
      return Answer(number: calls.increment())
    }
    .stale(after: .seconds(50))
    .kept(in: node.fleetNode, as: "answer", maximumAge: .seconds(3_600)) {
      [UInt8($0.number)]
    } decode: {
      Answer(number: Int($0[0]))
    }
  }

  @Test func `Nodes share a value that is not Codable, run it once, and run again when it was invalidated`() {
    let fleet = Fleet()
    let nodes = (0..<3).map { fleet.addNode("\($0)") }
    let calls = Counter()
    let answers = Log<Answer?>()
    func fetch() {
      for node in nodes {
        let query = self.query(on: node, counting: calls)
        _ = fleet.perform { answers.append(try? await node.client.ensureValue(for: query)) }
      }
      fleet.advance(by: .seconds(1))
    }
    fetch()
    expect(answers.all, equals: Array(repeating: Answer(number: 1), count: 3))
    nodes[1].client.invalidate(matching: ["answer"])
    fleet.advance(by: .seconds(1))
    fetch()
    expect(answers.all.suffix(3), equals: Array(repeating: Answer(number: 2), count: 3))
    // Too old for the operation, and not for the fleet.
    fleet.advance(by: .seconds(60))
    fetch()
    expect(answers.all.suffix(3), equals: Array(repeating: Answer(number: 3), count: 3))
    expect(calls.value, equals: 3)
  }

  @Test func `It keeps the rules of levels that give a right to put`() async throws {
    let fleet = InMemoryFleet()
    let client = OperationClient()
    let node = client.join(fleet.connect(as: "a"))
    try await checkValueLevel([.unlocked, .rights]) { node }
    try await node.remove(.path(["checkValueLevel"]), era: client.era)
    let key = LevelKey(path: ["checkValueLevel", 1], name: "value")
    guard case .none(let right?) = try await node.lookUp(key, ValueDemand()) else {
      Issue.record("A removed value is still there.")
      return
    }
    node.giveUp(right)
    node.leave()
  }
}

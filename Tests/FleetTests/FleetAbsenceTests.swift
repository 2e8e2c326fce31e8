import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// When a node goes on alone, when it comes back, and what it tells of the cause.
@Suite(.bounded, .warningsAreIssues) struct FleetAbsenceTests {
  /// A node whose backend can refuse calls, and the notices that it sends.
  private struct Subject {
    let node: Fleet.Node
    let backend: RefusingBackend
    let notices = Log<OperationNotice>()
    private let subscription: OperationSubscription

    init(_ name: String, in fleet: Fleet) {
      let made = Box<RefusingBackend?>(nil)
      self.node = fleet.addNode(name) { connection in
        let backend = RefusingBackend(connection)
        made.value = backend
        return backend
      }
      guard let backend = made.value else { preconditionFailure("A node has its backend when it was added.") }
      self.backend = backend
      let notices = self.notices
      self.subscription = self.node.client.onNotice { notices.append($0) }
    }

    /// The messages of the notices with a name.
    func messages(_ name: OperationNotice.Name) -> [OperationNotice.Value?] {
      self.notices.all.filter { $0.name == name }.map { $0.attributes["fleet.message"] }
    }

    func facts(_ query: some QueryRequest<Reading, any Error>) -> [String] {
      self.node.store(query).explain().sections.filter { $0.title == "Fleet" }.flatMap(\.facts)
    }
  }

  private func fetch(_ items: Range<Int>, on node: Fleet.Node, in fleet: Fleet, each interval: Duration) {
    for item in items {
      _ = fleet.perform { _ = try? await node.client.store(for: fleet.query(item, on: node.name)).fetch() }
      fleet.advance(by: interval)
    }
  }

  @Test func `A backend that reads but refuses writes sends a node away once, and the node tells why`() {
    let fleet = Fleet()
    let subject = Subject("a", in: fleet)
    fleet.advance(by: .seconds(1))
    let message = RefusingBackend.error.message
    expectWarning(.unusableFleetBackend) {
      subject.backend.refused = RefusingBackend.Call.writes
      self.fetch(0..<600, on: subject.node, in: fleet, each: .milliseconds(100))
    }
    #expect(subject.node.aways == 1)
    #expect(subject.messages(.fleetAway) == [.string(message)])
    #expect(subject.node.sources == ["alone": 600])
    guard case .away(let duration, message) = subject.node.fleetNode.connection else {
      Issue.record("\(subject.node.fleetNode.connection)")
      return
    }
    #expect(duration > .seconds(59))
    #expect(subject.facts(fleet.query(1, on: "a")).contains { $0.hasSuffix(message) })
    subject.backend.refused = []
    fleet.advance(by: .seconds(6))
    #expect(subject.node.fleetNode.connection == .connected)
    self.fetch(1_000..<1_001, on: subject.node, in: fleet, each: .seconds(1))
    #expect(subject.node.sources == ["alone": 600, "run": 1])
    #expect(!subject.facts(fleet.query(1, on: "a")).contains { $0.hasSuffix(message) })
  }

  @Test func `A backend that fails again as soon as it is used is used less and less often`() {
    let fleet = Fleet()
    let subject = Subject("a", in: fleet)
    fleet.advance(by: .seconds(1))
    expectWarning(.unusableFleetBackend) {
      subject.backend.refused = [.store]
      self.fetch(0..<600, on: subject.node, in: fleet, each: .milliseconds(100))
    }
    // The pauses double, up to five seconds.
    #expect((10...20).contains(subject.node.aways))
    // After some time without a failure they are short again.
    subject.backend.refused = []
    fleet.advance(by: .seconds(60))
    subject.backend.refused = [.store]
    self.fetch(1_000..<1_001, on: subject.node, in: fleet, each: .milliseconds(300))
    subject.backend.refused = []
    fleet.advance(by: .milliseconds(200))
    #expect(subject.node.fleetNode.connection == .connected)
  }

  @Test func `A backend that passes no messages on is told once, and is named until it does`() {
    let fleet = Fleet()
    let subject = Subject("a", in: fleet)
    fleet.advance(by: .seconds(1))
    let failure = FleetError(code: .failed, message: "The pooler keeps the messages. Go around it.")
    expectWarning(.unusableFleetBackend) {
      subject.backend.messagesFailure = failure
      fleet.advance(by: .seconds(60))
    }
    #expect(subject.messages(.fleetNoMessages) == [.string(failure.message)])
    #expect(subject.node.fleetNode.connection == .connected)
    let query = fleet.query(1, on: "a")
    #expect(subject.facts(query).contains("no messages arrive: \(failure.message)"))
    subject.backend.messagesFailure = nil
    fleet.advance(by: .seconds(60))
    #expect(!subject.facts(query).contains { $0.hasPrefix("no messages") })
    #expect(subject.messages(.fleetNoMessages).count == 1)
  }
}

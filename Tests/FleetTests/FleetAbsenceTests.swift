import OperationCore
import OperationEvents
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
    expect(subject.node.aways, equals: 1)
    expect(subject.messages(.fleetAway), equals: [.string(message)])
    expect(subject.node.sources, equals: ["alone": 600])
    guard case .away(let duration, message) = subject.node.fleetNode.connection else {
      Issue.record("\(subject.node.fleetNode.connection)")
      return
    }
    #expect(duration > .seconds(59))
    #expect(subject.facts(fleet.query(1, on: "a")).contains { $0.hasSuffix(message) })
    subject.backend.refused = []
    fleet.advance(by: .seconds(6))
    expect(subject.node.fleetNode.connection, equals: .connected)
    self.fetch(1_000..<1_001, on: subject.node, in: fleet, each: .seconds(1))
    expect(subject.node.sources, equals: ["alone": 600, "run": 1])
    #expect(!subject.facts(fleet.query(1, on: "a")).contains { $0.hasSuffix(message) })
  }

  @Test func `A backend that refuses some values and serves others keeps the node, and is told once`() {
    let fleet = Fleet()
    let subject = Subject("a", in: fleet)
    fleet.advance(by: .seconds(1))
    expectWarning(.unusableFleetBackend) {
      subject.backend.refused = [.store]
      self.fetch(0..<600, on: subject.node, in: fleet, each: .milliseconds(100))
    }
    expect(subject.node.aways, equals: 0)
    expect(subject.node.sources, equals: ["run": 600])
    subject.backend.refused = []
    self.fetch(0..<1, on: subject.node, in: fleet, each: .seconds(1))
    let other = fleet.addNode("b")
    fleet.advance(by: .seconds(1))
    self.fetch(0..<1, on: other, in: fleet, each: .seconds(1))
    expect(other.sources, equals: ["shared": 1])
  }

  @Test func `A backend that fails again as soon as it is back is asked less and less often`() {
    let fleet = Fleet()
    let subject = Subject("a", in: fleet)
    fleet.advance(by: .seconds(1))
    func fail(_ items: Range<Int>, each interval: Duration) {
      for item in items {
        // It serves while it is asked, and not when it is used.
        subject.backend.refused = subject.node.fleetNode.connection == .connected ? RefusingBackend.Call.writes : []
        self.fetch(item..<(item + 1), on: subject.node, in: fleet, each: interval)
      }
    }
    expectWarning(.unusableFleetBackend) { fail(0..<600, each: .milliseconds(100)) }
    // The pauses double, up to five seconds.
    #expect((10...20).contains(subject.node.aways), "\(subject.node.aways)")
    // After some time without a failure they are short again.
    subject.backend.refused = []
    fleet.advance(by: .seconds(60))
    fail(1_000..<1_001, each: .milliseconds(1))
    subject.backend.refused = []
    fleet.advance(by: .milliseconds(200))
    expect(subject.node.fleetNode.connection, equals: .connected)
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
    expect(subject.messages(.fleetNoMessages), equals: [.string(failure.message)])
    expect(subject.node.fleetNode.connection, equals: .connected)
    let query = fleet.query(1, on: "a")
    #expect(subject.facts(query).contains("no messages arrive: \(failure.message)"))
    subject.backend.messagesFailure = nil
    fleet.advance(by: .seconds(60))
    #expect(!subject.facts(query).contains { $0.hasPrefix("no messages") })
    expect(subject.messages(.fleetNoMessages).count, equals: 1)
  }

  // MARK: - Leases

  /// Fetches an item, and returns when that has ended, by the clock of the fleet.
  private func start(_ item: Int, on node: Fleet.Node, in fleet: Fleet) -> Box<Duration?> {
    let end = Box<Duration?>(nil)
    _ = fleet.perform {
      _ = try? await node.client.store(for: fleet.query(item, on: node.name)).fetch()
      end.value = fleet.clock.elapsed
    }
    return end
  }

  @Test func `A value that the backend refuses gives the lease back at once`() {
    let fleet = Fleet()
    let (subject, others) = (Subject("a", in: fleet), (0..<3).map { fleet.addNode("b\($0)") })
    fleet.advance(by: .seconds(1))
    subject.backend.refused = [.store]
    expectWarning(.unusableFleetBackend) {
      let start = fleet.clock.elapsed
      let first = self.start(1, on: subject.node, in: fleet)
      fleet.advance(by: .milliseconds(50))
      let ends = others.map { self.start(1, on: $0, in: fleet) }
      fleet.advance(by: .seconds(20))
      expect(first.value.map { $0 - start }, equals: .milliseconds(100))
      // The run of the first of them begins as soon as the value is refused, and serves all of them.
      for end in ends { expect(end.value.map { $0 - start }, equals: .milliseconds(200)) }
      expect(fleet.runs.count, equals: 2)
    }
  }

  @Test func `A lease that cannot be given back is given back when the backend is back`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    let start = fleet.clock.elapsed
    _ = self.start(1, on: a, in: fleet)
    fleet.advance(by: .milliseconds(50))
    let end = self.start(1, on: b, in: fleet)
    a.connection.isCut = true
    fleet.advance(by: .seconds(2))
    a.connection.isCut = false
    fleet.advance(by: .seconds(20))
    // Its time is ten seconds.
    expect(end.value.map { $0 - start < .seconds(5) }, equals: true, "\(String(describing: end.value))")
  }

  @Test func `A node that leaves gives the leases of its runs back`() {
    let fleet = Fleet(runDuration: .seconds(5))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    let start = fleet.clock.elapsed
    let first = self.start(1, on: a, in: fleet)
    fleet.advance(by: .seconds(1))
    let second = self.start(1, on: b, in: fleet)
    fleet.advance(by: .seconds(1))
    let calls = a.connection.sentCalls
    a.fleetNode.leave()
    fleet.advance(by: .seconds(60))
    expect(first.value.map { $0 - start }, equals: .seconds(5))
    // It has begun as soon as the other one has left, after two seconds.
    expect(second.value.map { $0 - start }, equals: .seconds(7))
    expect(b.sources, equals: ["run": 1])
    // It neither renews the lease nor stores its value.
    expect(a.connection.sentCalls, equals: calls + 1)
    let isFlushed = Box(false)
    _ = fleet.perform { isFlushed.value = await a.fleetNode.flush() }
    fleet.advance(by: .zero)
    #expect(isFlushed.value)
  }

  @Test func `A lease that is granted to a node that has left is given back`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(20)...(.milliseconds(20)))
    let fleet = Fleet(network: network)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    fleet.advance(by: .seconds(1))
    let start = fleet.clock.elapsed
    let first = self.start(1, on: a, in: fleet)
    // The answer with the lease is on its way.
    fleet.advance(by: .milliseconds(70))
    a.fleetNode.leave()
    fleet.advance(by: .seconds(1))
    expect(first.value.map { $0 - start < .seconds(1) }, equals: true)
    let second = self.start(1, on: b, in: fleet)
    fleet.advance(by: .seconds(1))
    #expect(second.value != nil)
  }
}

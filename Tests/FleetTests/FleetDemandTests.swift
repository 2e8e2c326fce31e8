import Foundation
import OperationCore
import OperationFleet
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// What a run takes from the fleet: never a value that is too old for who asks, or older than what the store has.
@Suite(.bounded, .warningsAreIssues) struct FleetDemandTests {
  private let fleet = Fleet()
  private let runs = Log<String>()

  private typealias PriceStore = OperationStore<QueryState<Int, any Error>>

  /// A query whose values count the runs.
  private func query(_ node: Fleet.Node, staleAfter: Duration? = nil) -> any QueryRequest<Int, any Error> {
    let runs = self.runs
    let query = QueryOperation<Int, any Error>("price") { _ in
      runs.append(node.name)
      return runs.all.count
    }
    .sharedInFleet(as: "price", timeToLive: .seconds(3_600))
    if let staleAfter { return query.stale(after: staleAfter) }
    return query
  }

  private func store(_ query: some QueryRequest<Int, any Error>, _ node: Fleet.Node) -> PriceStore {
    node.client.store(for: query)
  }

  /// Reads on a node, and returns the value when the time has passed.
  private func read(
    _ node: Fleet.Node,
    staleAfter: Duration? = nil,
    _ read: @escaping @Sendable (PriceStore) async throws -> Int = { try await $0.fetch() }
  ) -> Int? {
    let store = self.store(self.query(node, staleAfter: staleAfter), node)
    let result = Box<Int?>(nil)
    _ = self.fleet.perform { result.value = try? await read(store) }
    self.fleet.advance(by: .milliseconds(100))
    return result.value
  }

  @Test func `A reader that names an age gets no older value`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    let notOlder = { @Sendable (store: PriceStore) async throws -> Int in
      var context = OperationContext()
      context.maximumValueAge = .seconds(10)
      return try await store.value(for: .notOlder(than: .seconds(10)), using: context, inState: nil)
    }
    expect(self.read(a), equals: 1)
    self.fleet.advance(by: .seconds(9))
    expect(self.read(b, notOlder), equals: 1)
    self.fleet.advance(by: .seconds(2))
    expect(self.read(b, notOlder), equals: 2)
    // The other node finds the new one.
    expect(self.read(a, notOlder), equals: 2)
    expect(self.runs.all, equals: ["a", "b"])
  }

  @Test func `A value that the store would call stale is not taken`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    expect(self.read(a, staleAfter: .seconds(10)), equals: 1)
    self.fleet.advance(by: .seconds(8))
    expect(self.read(b, staleAfter: .seconds(10)), equals: 1)
    self.fleet.advance(by: .seconds(3))
    #expect(self.store(self.query(b, staleAfter: .seconds(10)), b).isStale)
    expect(self.read(b, staleAfter: .seconds(10)), equals: 2)
    #expect(!self.store(self.query(b, staleAfter: .seconds(10)), b).isStale)
    expect(self.read(a, staleAfter: .seconds(10)), equals: 2)
  }

  @Test(arguments: [OperationRunCause.Kind.earlyRefresh, .polling])
  func `A run that is to find a newer value does not find the shown one`(kind: OperationRunCause.Kind) {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    let refresh = { @Sendable (store: PriceStore) async throws -> Int in
      var context = OperationContext()
      context.operationRunCause = OperationRunCause(kind)
      return try await store.fetch(using: context)
    }
    expect(self.read(a), equals: 1)
    expect(self.read(b), equals: 1)
    expect(self.read(a, refresh), equals: 2)
    // For this node, that is a newer one.
    expect(self.read(b, refresh), equals: 2)
    expect(self.read(b, refresh), equals: 3)
    expect(self.runs.all, equals: ["a", "a", "b"])
  }

  @Test func `A value that was set here is not replaced by an older one of the fleet`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    expect(self.read(a), equals: 1)
    self.fleet.advance(by: .seconds(5))
    b.connection.isCut = true
    self.store(self.query(b), b).currentValue = 50
    self.fleet.advance(by: .seconds(5))
    b.connection.isCut = false
    self.fleet.advance(by: .seconds(60))
    expect(self.read(b), equals: 2)
    expect(self.read(a), equals: 2)
    expect(self.runs.all, equals: ["a", "b"])
  }

  @Test func `A value that is set reaches the other nodes in place of the older one`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    expect(self.read(a), equals: 1)
    self.fleet.advance(by: .seconds(5))
    let store = self.store(self.query(b), b)
    for value in 50...60 { store.currentValue = value }
    self.fleet.advance(by: .seconds(5))
    expect(self.read(a), equals: 60)
    expect(self.read(b), equals: 60)
    expect(self.runs.all, equals: ["a"])
    self.fleet.advance(by: .seconds(5))
    store.currentValue = 70
    self.fleet.advance(by: .seconds(5))
    expect(self.read(self.fleet.addNode("c")), equals: 70)
    a.client.invalidate(matching: ["price"])
    self.fleet.advance(by: .seconds(5))
    expect(self.read(b), equals: 2)
  }

  @Test func `A value that is set while another node runs comes after the value of that run`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    let gate = Gate()
    let slow = QueryOperation<Int, any Error>("slow") { _ in
      try await gate.wait()
      return 1
    }
    .sharedInFleet(as: "slow")
    _ = self.fleet.perform { _ = try? await a.client.store(for: slow).fetch() }
    self.fleet.advance(by: .seconds(1))
    b.client.store(for: slow).currentValue = 2
    self.fleet.advance(by: .seconds(1))
    gate.open()
    self.fleet.advance(by: .seconds(1))
    let read = Box<Int?>(nil)
    _ = self.fleet.perform { read.value = try? await a.client.store(for: slow).fetch() }
    self.fleet.advance(by: .seconds(1))
    expect(read.value, equals: 2)
  }

  @Test func `A value that was invalidated before it could be put stays where it is`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    expect(self.read(a), equals: 1)
    b.client.store(for: self.query(b)).currentValue = 50
    // The task that puts the value has not run yet.
    b.client.invalidate(matching: ["price"])
    self.fleet.advance(by: .seconds(5))
    expect(self.read(a), equals: 2)
    expect(self.read(b), equals: 2)
  }

  @Test func `A set value is put without the updates that nothing has confirmed`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    expect(self.read(b), equals: 1)
    let store = self.store(self.query(b), b)
    let id = StateLayerIdentifier()
    store.addLayer(id) { $0 = 100 }
    store.currentValue = 50
    self.fleet.advance(by: .seconds(5))
    expect(store.currentValue, equals: 100)
    expect(self.read(a), equals: 50)
  }

  @Test func `An own invalidation that is sent late does not hide one of another node`() async {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    let server = Box(1)
    // Not shared: its runs do not wait for the backend.
    let list = QueryOperation<Int, any Error>("list") { _ in server.value }
      .tagged(OperationTag("lists")).staleWhenNoValue()
    let store = a.client.store(for: list)
    let fetch = { [fleet] in
      _ = fleet.perform { _ = try? await store.fetch() }
      fleet.advance(by: .milliseconds(100))
    }
    self.fleet.advance(by: .seconds(1))
    fetch()
    a.connection.isCut = true
    a.client.invalidate(tagged: OperationTag("lists"))
    fetch()
    #expect(!store.isStale)
    server.value = 2
    b.client.invalidate(tagged: OperationTag("lists"))
    self.fleet.advance(by: .seconds(1))
    a.connection.isCut = false
    self.fleet.advance(by: .seconds(60))
    #expect(store.isStale)
  }
}

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
    #expect(self.read(a) == 1)
    self.fleet.advance(by: .seconds(9))
    #expect(self.read(b, notOlder) == 1)
    self.fleet.advance(by: .seconds(2))
    #expect(self.read(b, notOlder) == 2)
    // The other node finds the new one.
    #expect(self.read(a, notOlder) == 2)
    #expect(self.runs.all == ["a", "b"])
  }

  @Test func `A value that the store would call stale is not taken`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    #expect(self.read(a, staleAfter: .seconds(10)) == 1)
    self.fleet.advance(by: .seconds(8))
    #expect(self.read(b, staleAfter: .seconds(10)) == 1)
    self.fleet.advance(by: .seconds(3))
    #expect(self.store(self.query(b, staleAfter: .seconds(10)), b).isStale)
    #expect(self.read(b, staleAfter: .seconds(10)) == 2)
    #expect(!self.store(self.query(b, staleAfter: .seconds(10)), b).isStale)
    #expect(self.read(a, staleAfter: .seconds(10)) == 2)
  }

  @Test(arguments: [OperationRunCause.Kind.earlyRefresh, .polling])
  func `A run that is to find a newer value does not find the shown one`(kind: OperationRunCause.Kind) {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    let refresh = { @Sendable (store: PriceStore) async throws -> Int in
      var context = OperationContext()
      context.operationRunCause = OperationRunCause(kind)
      return try await store.fetch(using: context)
    }
    #expect(self.read(a) == 1)
    #expect(self.read(b) == 1)
    #expect(self.read(a, refresh) == 2)
    // For this node, that is a newer one.
    #expect(self.read(b, refresh) == 2)
    #expect(self.read(b, refresh) == 3)
    #expect(self.runs.all == ["a", "a", "b"])
  }

  @Test func `A value that was set here is not replaced by an older one of the fleet`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    #expect(self.read(a) == 1)
    self.fleet.advance(by: .seconds(5))
    let store = self.store(self.query(b), b)
    store.currentValue = 50
    self.fleet.advance(by: .seconds(5))
    #expect(self.read(b) == 2)
    #expect(self.runs.all == ["a", "b"])
    store.currentValue = 60
    self.fleet.advance(by: .seconds(5))
    #expect(self.read(a) == 2)
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

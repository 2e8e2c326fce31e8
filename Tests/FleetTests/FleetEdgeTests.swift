import Foundation
import OperationCore
import OperationFleet
import OperationPersistence
import OperationTags
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// An element of paths. A private type would have no key.
struct Kind: Hashable, Codable, Sendable {
  let name: String
}

private struct Unencodable: Codable, Sendable {
  var iban = "DE00"

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: "no \(self.iban)"))
  }
}

/// What is not shared, and what nodes of other programs do.
@Suite(.bounded, .warningsAreIssues) struct FleetEdgeTests {
  private struct Nameless: Hashable, Sendable {
    let number: Int
  }

  private func fetch<Value: Sendable>(
    _ query: some QueryRequest<Value, any Error>,
    on node: Fleet.Node,
    in fleet: Fleet
  ) -> Value? {
    let result = Box<Value?>(nil)
    _ = fleet.perform { result.value = try? await node.client.store(for: query).fetch() }
    fleet.advance(by: .seconds(1))
    return result.value
  }

  @Test func `Paths and tags with other elements than strings and integers reach other nodes`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let (kind, other) = (Kind(name: "a/b"), Kind(name: "c"))
    let (id, otherID) = (UUID(), UUID())
    @Sendable func query(_ kind: Kind) -> some QueryRequest<Int, any Error> {
      QueryOperation<Int, any Error>("kinds", kind, 1) { _ in 1 }
        .staleWhenNoValue().tagged(.entity("kind", kind == other ? otherID : id))
    }
    func isStale(_ kind: Kind) -> Bool { b.store(query(kind)).isStale }
    expect(self.fetch(query(kind), on: b, in: fleet), equals: 1)
    expect(self.fetch(query(other), on: b, in: fleet), equals: 1)
    a.client.invalidate(matching: ["kinds", kind])
    fleet.advance(by: .seconds(1))
    #expect(isStale(kind))
    #expect(!isStale(other))
    expect(self.fetch(query(kind), on: b, in: fleet), equals: 1)
    #expect(!isStale(kind))
    a.client.invalidate(tagged: .entity("kind", id))
    fleet.advance(by: .seconds(1))
    #expect(isStale(kind))
    #expect(!isStale(other))
  }

  @Test func `A prefix without a key invalidates more, and a value without one is not shared`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let runs = Counter()
    let query = QueryOperation<Int, any Error>("nameless", Nameless(number: 1)) { _ in runs.increment() }
      .staleWhenNoValue().sharedInFleet(as: "nameless")
    expectWarning(.unstorablePath) {
      expect(self.fetch(query, on: a, in: fleet), equals: 1)
      expect(self.fetch(query, on: a, in: fleet), equals: 2)
    }
    expectWarning(.unstorablePath) { expect(self.fetch(query, on: b, in: fleet), equals: 3) }
    a.client.invalidate(matching: ["nameless", Nameless(number: 2)])
    fleet.advance(by: .seconds(1))
    #expect(b.store(query).isStale)
  }

  @Test func `A value of another type is reported, and the node runs itself`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let text = QueryOperation<String, any Error>("value") { _ in "text" }.sharedInFleet(as: "value")
    let number = QueryOperation<Int, any Error>("value") { _ in 7 }.sharedInFleet(as: "value")
    expect(self.fetch(text, on: a, in: fleet), equals: "text")
    expectWarning(.unreadableFleetValue) { expect(self.fetch(number, on: b, in: fleet), equals: 7) }
    let next = QueryOperation<Int, any Error>("value") { _ in 8 }.sharedInFleet(as: "value", version: 2)
    expect(self.fetch(next, on: a.client === b.client ? b : fleet.addNode("c"), in: fleet), equals: 8)
  }

  @Test func `A value that is too large is reported, and each node has its own`() {
    var settings = FleetSettings(nodeName: "node")
    settings.maximumValueSize = 100
    let fleet = Fleet(settings: settings)
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let runs = Counter()
    let query = QueryOperation<String, any Error>("large") { _ in
      runs.increment()
      return String(repeating: "x", count: 200)
    }
    .sharedInFleet(as: "large")
    for node in [a, b] {
      expectWarning(.unsharedValue) { expect(self.fetch(query, on: node, in: fleet)?.count, equals: 200) }
    }
    expect(runs.value, equals: 2)
  }

  @Test func `The warning of a value that cannot be encoded does not have the value`() {
    let fleet = Fleet()
    let node = fleet.addNode("a")
    let query = QueryOperation<Unencodable, any Error>("account") { _ in Unencodable() }.sharedInFleet(as: "account")
    let recorder = WarningRecorder()
    recorder.recording { expect(self.fetch(query, on: node, in: fleet)?.iban, equals: "DE00") }
    expect(recorder.warnings.map(\.code), equals: [.unsharedValue])
    let text = recorder.warnings.map(\.message).joined()
    #expect(text.contains("it cannot be encoded: EncodingError.invalidValue") && !text.contains("DE00"), "\(text)")
  }

  @Test func `A run that fails lets the next one run at once`() {
    let network = InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(2)))
    let fleet = Fleet(network: network)
    let nodes = [fleet.addNode("a"), fleet.addNode("b")]
    fleet.advance(by: .seconds(1))
    let runs = Counter()
    let query = QueryOperation<Int, any Error>("failing") { context in
      let run = runs.increment()
      try await context.operationDeadlines.sleep(for: .milliseconds(50))
      if run == 1 { throw Refused() }
      return run
    }
    .sharedInFleet(as: "failing")
    let start = fleet.clock.elapsed
    let ends = Box<[Duration]>([])
    for node in nodes {
      _ = fleet.perform {
        _ = try? await node.client.store(for: query).fetch()
        ends.value.append(fleet.clock.elapsed - start)
      }
    }
    fleet.advance(by: .seconds(1))
    expect(runs.value, equals: 2)
    #expect(ends.value.count == 2 && ends.value.allSatisfy { $0 < .milliseconds(150) })
  }

  @Test func `A caller that is cancelled leaves at once, also while it waits for another node`() {
    let fleet = Fleet(runDuration: .seconds(60))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    _ = fleet.perform { _ = try? await a.client.store(for: fleet.query(1, on: "a")).fetch() }
    fleet.advance(by: .seconds(1))
    let error = Box<(any Error)?>(nil)
    let waiting = fleet.perform {
      do {
        _ = try await b.client.store(for: fleet.query(1, on: "b")).fetch()
      } catch let thrown {
        error.value = thrown
      }
    }
    fleet.advance(by: .seconds(1))
    waiting.cancel()
    fleet.advance(by: .zero)
    #expect(error.value is CancellationError)
    expect(fleet.runs.count, equals: 1)
  }

  @Test func `A restored value is shown, and is stale`() async {
    let fleet = Fleet()
    let storage = InMemoryStorage()
    let runs = Counter()
    let query = QueryOperation<Int, any Error>("kept") { _ in runs.increment() }
      .staleWhenNoValue().persisted(as: "kept", in: storage).sharedInFleet(as: "kept")
    let a = fleet.addNode("a")
    expect(self.fetch(query, on: a, in: fleet), equals: 1)
    #expect(await a.client.persistence.flush())
    let b = fleet.addNode("b")
    let store = b.store(query)
    fleet.advance(by: .seconds(1))
    expect(store.currentValue, equals: 1)
    #expect(store.isStale)
    expect(self.fetch(query, on: b, in: fleet), equals: 1)
    #expect(!store.isStale)
    expect(runs.value, equals: 1)
  }

  @Test func `Clearing everything reaches all nodes, and says when the backend does not know it`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    @Sendable func clear() -> Box<Result<Void, any Error>?> {
      let outcome = Box<Result<Void, any Error>?>(nil)
      _ = fleet.perform {
        do {
          try await a.client.clearEverything()
          outcome.value = .success(())
        } catch {
          outcome.value = .failure(error)
        }
      }
      fleet.advance(by: .seconds(20))
      return outcome
    }
    #expect(self.fetch(fleet.query(1, on: "a"), on: a, in: fleet) != nil)
    #expect(throws: Never.self) { try clear().value?.get() }
    #expect(!a.fleetNode.hasPendingInvalidations)
    #expect(self.fetch(fleet.query(1, on: "b"), on: b, in: fleet) != nil)
    expect(fleet.runs.map(\.node), equals: ["a", "b"])
    a.connection.isCut = true
    let error = #expect(throws: ClearingError.self) { try clear().value?.get() }
    guard case .fleet("a")? = error?.remaining.first else {
      Issue.record("The invalidation was not left.")
      return
    }
    #expect(a.client.stores().isEmpty)
    a.connection.isCut = false
    fleet.advance(by: .seconds(20))
    #expect(!a.fleetNode.hasPendingInvalidations)
    #expect(b.store(fleet.query(1, on: "b")).isStale)
    #expect(throws: Never.self) { try clear().value?.get() }
  }

  @Test func `The event of a value says which node ran`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    #expect(self.fetch(fleet.query(1, on: "a"), on: a, in: fleet) != nil)
    let origin = Box<OperationFleetOrigin?>(nil)
    let query = fleet.query(1, on: "b").handleEvents(
      with: QueryEventHandler(onResultReceived: { _, context in origin.value = context.fleetOrigin })
    )
    #expect(self.fetch(query, on: b, in: fleet) != nil)
    expect(origin.value, equals: OperationFleetOrigin(source: .shared, node: "a", age: .milliseconds(900)))
  }

  @Test func `A node that has left runs for itself, and a client is released with its node`() {
    let fleet = Fleet()
    let a = fleet.addNode("a")
    #expect(self.fetch(fleet.query(1, on: "a"), on: a, in: fleet) != nil)
    a.fleetNode.leave()
    expect(a.fleetNode.connection, equals: .left)
    #expect(self.fetch(fleet.query(2, on: "a"), on: a, in: fleet) != nil)
    expect(a.sources, equals: ["run": 1, "alone": 1])

    weak var client: OperationClient?
    weak var node: FleetNode?
    do {
      let b = fleet.addNode("b")
      _ = self.fetch(fleet.query(1, on: "b"), on: b, in: fleet)
      (client, node) = (b.client, b.fleetNode)
    }
    fleet.executor.runAll()
    #expect(client == nil)
    #expect(node == nil)
  }
}

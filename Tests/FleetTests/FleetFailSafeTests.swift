import OperationBackoff
import OperationCore
import OperationEvents
import OperationFleet
import OperationFreshness
import OperationRetry
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// What a node serves whose own run fails or takes long: the last value of the fleet, as long as `.servesStale` allows it.
@Suite(.bounded, .warningsAreIssues) struct FleetFailSafeTests {
  /// A service that answers with a number, answers late, or fails.
  private final class Service: Sendable {
    let answer = Box(1)
    let fails = Box(false)
    let duration = Box(Duration.milliseconds(10))
    let calls = Counter()

    func read(in context: OperationContext) async throws -> Int {
      self.calls.increment()
      try await context.operationDeadlines.sleep(for: self.duration.value)
      if self.fails.value { throw Refused() }
      return self.answer.value
    }
  }

  private let fleet = Fleet(network: InMemoryFleet.Network(latency: .milliseconds(2)...(.milliseconds(2))))
  private let service = Service()

  private func base() -> some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("posts", 1) { [service] context in try await service.read(in: context) }
      .stale(after: .seconds(10))
      .tagged { _ in [OperationTag("posts")] }
  }

  private func query(for age: Duration = .seconds(600)) -> some QueryRequest<Int, any Error> {
    self.base().servesStale(onFailureFor: age).sharedInFleet(as: "post", timeToLive: .seconds(10))
  }

  private func quickQuery() -> some QueryRequest<Int, any Error> {
    self.base().servesStale(softTimeout: .milliseconds(200), maximumAge: .seconds(600))
      .sharedInFleet(as: "post", timeToLive: .seconds(10))
  }

  private func start(
    _ query: some QueryRequest<Int, any Error>,
    on node: Fleet.Node
  ) -> Box<Result<Int, any Error>?> {
    let result = Box<Result<Int, any Error>?>(nil)
    _ = self.fleet.perform {
      do {
        result.value = .success(try await node.client.store(for: query).fetch())
      } catch {
        result.value = .failure(error)
      }
    }
    return result
  }

  /// Fetches on a node, and returns the value; nil if the fetch has failed.
  private func fetch(_ query: some QueryRequest<Int, any Error>, on node: Fleet.Node) -> Int? {
    let result = self.start(query, on: node)
    self.fleet.advance(by: .seconds(1))
    guard let outcome = result.value else {
      Issue.record("the fetch has not ended")
      return nil
    }
    return try? outcome.get()
  }

  /// A node on which the value 1 was fetched, a minute ago.
  private func oldNode(_ query: some QueryRequest<Int, any Error>) -> Fleet.Node {
    let node = self.fleet.addNode("old")
    expect(self.fetch(query, on: node), equals: 1)
    self.fleet.advance(by: .seconds(60))
    return node
  }

  private func newNode() -> Fleet.Node {
    let node = self.fleet.addNode("new")
    self.fleet.advance(by: .seconds(1))
    return node
  }

  @Test func `A node that has just started serves the last value of the fleet when its run fails`() throws {
    let old = self.oldNode(self.query())
    self.service.fails.value = true
    let new = self.newNode()
    let served = Box<OperationServedStale?>(nil)
    let store = new.client.store(for: self.query())
    let result = Box<Int?>(nil)
    _ = self.fleet.perform {
      let handler = QueryEventHandler<QueryState<Int, any Error>>(onResultReceived: { result, context in
        if (try? result.get()) != nil, let stale = context.servedStale { served.value = stale }
      })
      result.value = try? await store.fetch(using: nil, handler: handler)
    }
    let calls = new.connection.sentCalls
    self.fleet.advance(by: .seconds(1))
    expect(result.value, equals: 1)
    expect(served.value?.reason, equals: .failure)
    let age = try #require(served.value?.age)
    #expect((.seconds(61.9)...(.seconds(62.1))).contains(age), "\(age)")
    // For the value, for the lease, and to give that back.
    expect(new.connection.sentCalls - calls, equals: 3)
    #expect(store.currentValue == 1 && store.error is Refused && store.isStale)
    expect(new.sources, equals: [:])
    let facts = store.explain().sections.first { $0.title == "Fleet" }?.facts ?? []
    #expect(facts.contains { $0.hasPrefix("the last value was run on old") }, "\(facts)")
    // The other node has the value itself, and does not ask for it.
    let callsBefore = old.connection.sentCalls
    expect(self.fetch(self.query(), on: old), equals: 1)
    expect(old.connection.sentCalls - callsBefore, equals: 2)
    expect(self.service.calls.value, equals: 3)
  }

  enum Invalidation: CaseIterable, Sendable {
    case path, tag, everything
  }

  @Test(arguments: Invalidation.allCases) func `A last value that was invalidated is not served`(how: Invalidation) {
    let old = self.oldNode(self.query())
    switch how {
    case .path: _ = old.client.invalidate(matching: ["posts"])
    case .tag: _ = old.client.invalidate(tagged: OperationTag("posts"))
    case .everything: _ = old.client.invalidate()
    }
    self.fleet.advance(by: .seconds(1))
    self.service.fails.value = true
    let new = self.newNode()
    expect(self.fetch(self.query(), on: new), equals: nil)
    expect(new.client.store(for: self.query()).currentValue, equals: nil)
  }

  @Test(arguments: [true, false]) func `A last value that is too old is not served`(isKept: Bool) {
    // Kept by the one, and too old for the other; or not kept at all.
    _ = self.oldNode(self.query(for: .seconds(isKept ? 600 : 30)))
    self.service.fails.value = true
    let new = self.newNode()
    expect(self.fetch(self.query(for: .seconds(30)), on: new), equals: nil)
    expect(new.client.store(for: self.query(for: .seconds(30))).currentValue, equals: nil)
  }

  @Test func `What the way of an answer takes makes a value no younger`() {
    let fleet = Fleet(
      network: InMemoryFleet.Network(latency: .seconds(2)...(.seconds(2))),
      settings: FleetSettings(nodeName: "node", lookupTimeout: .seconds(60))
    )
    let results = Box<[Int?]>([])
    func fetch(on name: String) -> Fleet.Node {
      let node = fleet.addNode(name)
      // The node has reached the backend.
      fleet.advance(by: .seconds(10))
      let query = self.query()
      _ = fleet.perform {
        let value = try? await node.client.store(for: query).fetch()
        results.value.append(value)
      }
      return node
    }
    self.service.duration.value = .zero
    _ = fetch(on: "old")
    fleet.advance(by: .seconds(7))
    self.service.answer.value = 2
    // The run begins when the value is older than its 10 seconds, by less than the answer takes.
    let new = fetch(on: "new")
    fleet.advance(by: .seconds(20))
    expect(results.value, equals: [1, 2])
    expect(new.sources, equals: ["run": 1])
  }

  @Test func `Without serving stale values a value that has outlived its time is no answer`() {
    _ = self.oldNode(self.query())
    self.service.answer.value = 2
    let plain = self.base().sharedInFleet(as: "post", timeToLive: .seconds(10))
    let new = self.newNode()
    expect(self.fetch(plain, on: new), equals: 2)
    self.fleet.advance(by: .seconds(60))
    self.service.fails.value = true
    expect(self.fetch(plain, on: self.fleet.addNode("newest")), equals: nil)
  }

  @Test func `A caller whose run is slow gets the last value of the fleet, and the run goes on`() {
    _ = self.oldNode(self.quickQuery())
    (self.service.answer.value, self.service.duration.value) = (2, .seconds(5))
    let new = self.newNode()
    let store = new.client.store(for: self.quickQuery())
    let result = self.start(self.quickQuery(), on: new)
    self.fleet.advance(by: .milliseconds(199))
    #expect(result.value == nil && store.currentValue == 1)
    self.fleet.advance(by: .milliseconds(1))
    expect((try? result.value?.get()), equals: 1)
    #expect(store.isLoading && store.isStale)
    self.fleet.advance(by: .seconds(5))
    #expect(store.currentValue == 2 && !store.isStale && new.sources == ["run": 1])
    // It is the value of all others by now.
    expect(self.fetch(self.quickQuery(), on: self.fleet.addNode("newest")), equals: 2)
    expect(self.service.calls.value, equals: 2)
  }

  @Test func `A retry around the fleet shows the last value once, and ends after its attempts`() {
    _ = self.oldNode(self.query())
    self.service.fails.value = true
    let calls = self.service.calls.value
    let retried = self.base().sharedInFleet(as: "post", timeToLive: .seconds(10)).retry(limit: 3)
      .delayer(.noDelay)
      .servesStale(onFailureFor: .seconds(600))
    let new = self.newNode()
    let updates = Counter()
    let subscription = new.client.store(for: retried).subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in if state.currentValue != nil { updates.increment() } })
    )
    let result = self.start(retried, on: new)
    self.fleet.advance(by: .seconds(1))
    expect((try? result.value?.get()), equals: 1)
    expect(self.service.calls.value - calls, equals: 4)
    expect(new.client.store(for: retried).valueUpdateCount, equals: 1)
    #expect(updates.value >= 1)
    subscription.cancel()
  }

  @Test func `A store that an invalidation has reached serves what another node has fetched after it`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    self.fleet.advance(by: .seconds(1))
    expect(self.fetch(self.query(), on: b), equals: 1)
    a.client.invalidate(matching: ["posts"])
    self.service.answer.value = 2
    expect(self.fetch(self.query(), on: a), equals: 2)
    self.fleet.advance(by: .seconds(60))
    self.service.fails.value = true
    // Its own value is known to be wrong.
    expect(b.client.store(for: self.query()).currentValue, equals: 1)
    expect(self.fetch(self.query(), on: b), equals: 2)
  }

  @Test func `A node whose own value is newer serves that one`() {
    let (a, b) = (self.fleet.addNode("a"), self.fleet.addNode("b"))
    self.fleet.advance(by: .seconds(1))
    expect(self.fetch(self.query(), on: a), equals: 1)
    b.connection.isCut = true
    self.fleet.advance(by: .seconds(20))
    self.service.answer.value = 2
    expect(self.fetch(self.query(), on: b), equals: 2)
    b.connection.isCut = false
    self.fleet.advance(by: .seconds(60))
    self.service.fails.value = true
    expect(self.fetch(self.query(), on: b), equals: 2)
    expect(b.client.store(for: self.query()).valueUpdateCount, equals: 1)
  }

  @Test func `A run that waits for another one with the last value at hand asks no more often than without`() {
    let old = self.oldNode(self.query())
    (self.service.answer.value, self.service.duration.value) = (2, .seconds(5))
    let new = self.newNode()
    let first = self.start(self.query(), on: old)
    self.fleet.advance(by: .milliseconds(100))
    let calls = new.connection.sentCalls
    let second = self.start(self.query(), on: new)
    self.fleet.advance(by: .milliseconds(4_800))
    #expect(second.value == nil && new.client.store(for: self.query()).currentValue == 1)
    // For the value, for the lease, and a look-up each quarter of a second.
    #expect((10...23).contains(new.connection.sentCalls - calls), "\(new.connection.sentCalls - calls)")
    self.fleet.advance(by: .seconds(1))
    #expect((try? first.value?.get()) == 2 && (try? second.value?.get()) == 2)
    #expect(new.sources == ["awaited": 1] && self.service.calls.value == 2)
  }
}

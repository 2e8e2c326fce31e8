import CoreFixtures
import OperationCore
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

/// Several stores as one followed value.
@Suite(.bounded, .warningsAreIssues)
struct CombinedStatesTests {
  private let client = OperationClient()

  private var stores: [IntStore] {
    (0..<3).map { self.client.store(for: NumberQuery($0)) }
  }

  private func values(_ states: [IntState]?) -> [Int?]? { states?.map(\.currentValue) }

  @Test
  func `The states of all stores come first, in their order, and then again after each change`() async throws {
    let stores = self.stores
    stores[1].currentValue = 5
    var states = self.client.states(of: (0..<3).map { NumberQuery($0) }).makeAsyncIterator()
    expect(self.values(await states.next()), equals: [nil, 5, nil])
    stores[2].currentValue = 7
    expect(self.values(await states.next()), equals: [nil, 5, 7])
    stores[0].setResult(to: .failure(Refused()))
    #expect(await states.next()?[0].error is Refused)
  }

  @Test
  func `Changes that come while the reader is busy arrive together`() async throws {
    let stores = self.stores
    var states = stores.combinedStates().makeAsyncIterator()
    _ = await states.next()
    for number in 1...100 { for store in stores { store.currentValue = number } }
    expect(self.values(await states.next()), equals: [100, 100, 100])
    stores[0].currentValue = 101
    expect(self.values(await states.next()), equals: [101, 100, 100])
  }

  @Test
  func `Queries of several types are one tuple`() async throws {
    let text = OperationScript<String, Refused>()
    let textQuery = text.query(path: ["text"])
    var states = self.client.states(of: NumberQuery(1), textQuery).makeAsyncIterator()
    let first = try #require(await states.next())
    expect(first.0.currentValue, equals: nil)
    expect(first.1.currentValue, equals: nil)
    self.client.store(for: NumberQuery(1)).currentValue = 4
    self.client.store(for: textQuery).currentValue = "four"
    let second = try #require(await states.next())
    expect(second.0.currentValue, equals: 4)
    expect(second.1.currentValue, equals: "four")
  }

  @Test
  func `Stores of several kinds are one tuple`() async throws {
    let plain = self.client.store(for: NumberQuery(1))
    let defaulted = self.client.store(for: TextQuery("a").defaultValue("none"))
    var states = combinedStates(of: plain, defaulted, plain).makeAsyncIterator()
    let first = try #require(await states.next())
    expect(first.0.currentValue, equals: nil)
    expect(first.1.currentValue, equals: "none")
    plain.currentValue = 2
    let second = try #require(await states.next())
    expect(second.0.currentValue, equals: 2)
    expect(second.2.currentValue, equals: 2)
  }

  @Test
  func `Queries with default values are followed with them`() async throws {
    let queries = ["a", "b"].map { TextQuery($0).defaultValue("none") }
    var states = self.client.states(of: queries).makeAsyncIterator()
    self.client.store(for: queries[1]).currentValue = "some"
    await expect(states.next()?.map(\.currentValue), equals: ["none", "some"])
  }

  @Test
  func `Without stores there is one element, which is empty`() async throws {
    let client = self.client
    let received = Receiver<Int>()
    let reader = Task {
      for await states in client.states(of: [NumberQuery]()) { received.receive(states.count) }
    }
    try await received.last(0)
    reader.cancel()
    try await reader.finished()
    expect(received.all, equals: [0])
  }

  @Test
  func `A combined result comes only when it differs`() async throws {
    let stores = self.stores
    var sums = stores.combinedStates().combined { $0.reduce(0) { $0 + ($1.currentValue ?? 0) } }.makeAsyncIterator()
    await expect(sums.next(), equals: 0)
    stores[0].currentValue = 0
    stores[1].currentValue = 4
    await expect(sums.next(), equals: 4)
    // The states differ, and their sum does not. Were it repeated, the next element would be 4.
    let received = Receiver<Int>()
    let reader = Task { [sequence = stores.combinedStates()] in
      for await sum in sequence.combined({ $0.reduce(0) { $0 + ($1.currentValue ?? 0) } }) { received.receive(sum) }
    }
    try await received.last(4)
    let noted = Receiver<Int?>()
    let subscription = stores[2].subscribe { noted.receive($0.currentValue) }
    stores[2].currentValue = 0
    try await noted.last(0)
    stores[2].currentValue = 3
    try await received.last(7)
    expect(received.all, equals: [4, 7])
    reader.cancel()
    try await reader.finished()
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `Stale values are fetched for an iterator, and it leaves when it is dropped`() async throws {
    let scripts = [IntScript(), IntScript()]
    let queries = scripts.map { $0.automaticQuery() }
    do {
      var states = self.client.states(of: queries).makeAsyncIterator()
      await expect(states.next()?.count, equals: 2)
      let runs = [try await scripts[0].next(), try await scripts[1].next()]
      #expect(queries.allSatisfy { self.client.store(for: $0).subscriberCount == 1 })
      _ = consume states
      for run in runs { try await run.cancelled() }
    }
    #expect(queries.allSatisfy { self.client.store(for: $0).subscriberCount == 0 })
  }

  @Test
  func `Cancelling the reader ends its iteration and its subscriptions`() async throws {
    let stores = self.stores
    let received = Receiver<Int>()
    let reader = Task {
      for await states in stores.combinedStates() { received.receive(states.count) }
    }
    try await received.last(3)
    reader.cancel()
    try await reader.finished()
    #expect(stores.allSatisfy { $0.subscriberCount == 0 })
  }

  @Test
  func `An iterator keeps its stores, and releases them`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let script = OperationScript<LifetimeTracker.Token, any Error>()
      var states = [OperationStore.detached(query: script.query(), initialValue: lifetimes.token())]
        .combinedStates().makeAsyncIterator()
      #expect(await states.next()?.first?.currentValue != nil)
      expect(lifetimes.aliveCount, equals: 1)
    }
    try await lifetimes.noneAlive()
  }

  @Test
  func `Ten thousand stores are one value`() async throws {
    var states = self.client.states(of: (0..<10_000).map { NumberQuery($0) }).makeAsyncIterator()
    await expect(states.next()?.count, equals: 10_000)
    for number in 0..<10_000 { self.client.store(for: NumberQuery(number)).currentValue = 1 }
    await expect(states.next()?.reduce(0) { $0 + ($1.currentValue ?? 0) }, equals: 10_000)
  }

  @Test
  func `The states of removed stores are followed by those of the client's next ones`() async throws {
    var states = self.client.states(of: (0..<2).map { NumberQuery($0) }).makeAsyncIterator()
    let pair = self.client.states(of: NumberQuery(0), NumberQuery(1))
    var pairs = pair.makeAsyncIterator()
    var sums = self.client.states(of: (0..<2).map { NumberQuery($0) })
      .combined { states in states.compactMap(\.currentValue).reduce(0, +) }.makeAsyncIterator()
    self.client.store(for: NumberQuery(0)).currentValue = 5
    expect(self.values(await states.next()), equals: [5, nil])
    await expect(pairs.next()?.0.currentValue, equals: 5)
    await expect(sums.next(), equals: 5)
    self.client.clearStores()
    expect(self.values(await states.next()), equals: [nil, nil])
    await expect(pairs.next()?.0.currentValue, equals: nil)
    await expect(sums.next(), equals: 0)
    self.client.store(for: NumberQuery(1)).currentValue = 7
    expect(self.values(await states.next()), equals: [nil, 7])
    await expect(pairs.next()?.1.currentValue, equals: 7)
    await expect(sums.next(), equals: 7)
    var late = pair.makeAsyncIterator()
    await expect(late.next()?.1.currentValue, equals: 7)
  }

  @Test
  func `An iterator that is dropped follows no further store`() async throws {
    var states: CombinedStates<[IntState]>.Iterator? =
      self.client.states(of: [NumberQuery(0)]).makeAsyncIterator()
    _ = await states?.next()
    self.client.clearStores()
    expect(self.client.store(for: NumberQuery(0)).subscriberCount, equals: 1)
    states = nil
    expect(self.client.store(for: NumberQuery(0)).subscriberCount, equals: 0)
    self.client.clearStores()
    #expect(self.client.stores().isEmpty)
  }
}

import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `setDefaults(matching:)`: the context of stores by the beginnings of their paths.
@Suite(.bounded, .warningsAreIssues)
struct PathDefaultsTests {
  private let client = OperationClient()

  private func number(at path: OperationPath) -> Int {
    self.client.store(for: IntScript().query(path: path)).context[NumberKey.self]
  }

  @Test
  func `They apply to the paths that start with the prefix, and the prefix itself is one`() {
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = 1 }
    expect(self.number(at: ["a"]), equals: 1)
    expect(self.number(at: ["a", 2, "c"]), equals: 1)
    expect(self.number(at: ["ab"]), equals: 0)
    expect(self.number(at: []), equals: 0)
  }

  @Test
  func `A longer prefix wins and sees what the shorter ones have set, whatever their order`() {
    self.client.defaultContext[NumberKey.self] = 1
    self.client.setDefaults(matching: ["a", "b"]) { $0[NumberKey.self] = $0[NumberKey.self] * 10 + 4 }
    self.client.setDefaults(matching: []) { $0[NumberKey.self] = $0[NumberKey.self] * 10 + 2 }
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = $0[NumberKey.self] * 10 + 3 }
    expect(self.number(at: ["a", "b", "c"]), equals: 1_234)
    expect(self.number(at: ["a", "c"]), equals: 123)
    expect(self.number(at: ["b"]), equals: 12)
    expect(self.number(at: ["a"]), equals: 123)
  }

  @Test
  func `What the operation writes replaces them, and so does the context of a call`() async throws {
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = 1 }
    let query = QueryOperation("a") { context in context[NumberKey.self] }
    let store = self.client.store(for: query.context { $0[NumberKey.self] += 10 })
    try await expect(store.fetch(), equals: 11)
    var context = OperationContext()
    context[NumberKey.self] = 5
    try await expect(store.fetch(using: context), equals: 5)
  }

  @Test
  func `What the creator of the stores writes, they replace`() {
    let client = OperationClient(storeCreator: NumberingCreator())
    client.setDefaults(matching: ["a"]) { $0[NumberKey.self] += 1 }
    expect(client.store(for: IntScript().query(path: ["a"])).context[NumberKey.self], equals: 101)
    expect(client.store(for: IntScript().query(path: ["b"])).context[NumberKey.self], equals: 100)
  }

  @Test
  func `Stores that exist keep their contexts, and later ones have the newest defaults`() {
    let before = self.client.store(for: IntScript().query(path: ["a", 1]))
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = 1 }
    expect(before.context[NumberKey.self], equals: 0)
    let first = self.client.store(for: IntScript().query(path: ["a", 2]))
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = 2 }
    expect(first.context[NumberKey.self], equals: 1)
    expect(self.number(at: ["a", 3]), equals: 2)
    self.client.removeDefaults(matching: ["a"])
    expect(self.number(at: ["a", 4]), equals: 0)
    self.client.removeDefaults(matching: ["never set"])
  }

  @Test
  func `They are those of the path of the store, also for one that its body makes`() async throws {
    self.client.setDefaults(matching: ["a"]) { $0[NumberKey.self] = 1 }
    let inner = IntScript().query(path: ["a", "inner"])
    let query = QueryOperation("b") { context in
      let detached = IntStore.detached(query: inner, initialContext: context)
      let numbers = [context[NumberKey.self], detached.context[NumberKey.self]]
      return numbers + [context.operationClient?.store(for: inner).context[NumberKey.self] ?? -1]
    }
    try await expect(self.client.store(for: query).fetch(), equals: [0, 0, 1])
  }

  @Test
  func `An edit may use the client, and is called once for each store`() {
    let counter = Counter()
    self.client.setDefaults(matching: ["a"]) { [unowned client = self.client] context in
      counter.increment()
      _ = client.store(for: NumberQuery(3))
      client.setDefaults(matching: ["b"]) { _ in }
      context[NumberKey.self] = 6
    }
    expect(self.number(at: ["a"]), equals: 6)
    let query = IntScript().query(path: ["a", 1])
    let store = self.client.store(for: query)
    #expect(self.client.store(for: query) === store)
    expect(counter.value, equals: 2)
  }

  @Test
  func `Handlers and controllers of the defaults work for each store`() {
    let log = Log<Int>()
    self.client.setDefaults(matching: ["a"]) { context in
      context.addEventHandler(
        OperationEventHandler<IntState>(onStateChanged: { state, _ in log.append(state.currentValue ?? 0) })
      )
    }
    self.client.store(for: IntScript().query(path: ["a", 1])).currentValue = 1
    self.client.store(for: IntScript().query(path: ["b", 1])).currentValue = 2
    self.client.store(for: IntScript().query(path: ["a", 2])).currentValue = 3
    expect(log.all, equals: [1, 3])
  }

  @Test
  func `Ten thousand prefixes find their stores`() {
    for number in 0..<10_000 { self.client.setDefaults(matching: ["n", number]) { $0[NumberKey.self] = number } }
    for number in stride(from: 0, to: 10_000, by: 97) { expect(self.number(at: ["n", number, "x"]), equals: number) }
    expect(self.number(at: ["n"]), equals: 0)
  }

  @Test
  func `What a default captures is released with the client, or when it is replaced or removed`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let client = OperationClient()
      for _ in 0..<2 {
        let token = lifetimes.token()
        client.setDefaults(matching: ["a"]) { _ in token.touch() }
      }
      _ = client.store(for: IntScript().query(path: ["a"]))
      expect(lifetimes.aliveCount, equals: 1)
      let token = lifetimes.token()
      client.setDefaults(matching: ["b"]) { _ in token.touch() }
      client.removeDefaults(matching: ["a"])
    }
    try await lifetimes.noneAlive()
  }
}

/// `operationStaleAfter`: how long a value is fresh without a rule of its operation.
@Suite(.bounded, .warningsAreIssues)
struct StaleAfterTests {
  private let client = OperationClient()
  private let clock = ManualClock()

  init() {
    self.client.defaultContext.use(self.clock)
  }

  @Test
  func `A value is stale from this age on, and without a value a store is stale`() {
    self.client.setDefaults(matching: ["a"]) { $0.operationStaleAfter = .seconds(60) }
    let store = self.client.store(for: IntScript().query(path: ["a"]))
    #expect(store.isStale)
    store.currentValue = 1
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(59_999))
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(1))
    #expect(store.isStale)
  }

  @Test(arguments: [(10, 60), (60, 10)])
  func `A rule of the operation replaces it, whether shorter or longer`(own: Int, other: Int) {
    self.client.setDefaults(matching: []) { $0.operationStaleAfter = .seconds(other) }
    let store = self.client.store(for: IntScript().query(path: ["a"]).stale(after: .seconds(own)))
    store.currentValue = 1
    self.clock.advance(by: .seconds(own - 1))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test
  func `An invalidated value is stale at once, and huge times never end`() {
    self.client.defaultContext.operationStaleAfter = .seconds(Int64.max) * 4
    let store = self.client.store(for: IntScript().query(path: ["a"]))
    store.currentValue = 1
    self.clock.advance(by: .seconds(1_000_000))
    #expect(!store.isStale)
    self.client.invalidate()
    #expect(store.isStale)
  }

  @Test
  func `A negative time is reported and counts as zero`() {
    let reports = warnings { self.client.defaultContext.operationStaleAfter = .seconds(-1) }
    expect(reports.map(\.code), equals: [.invalidArgument])
    expect(self.client.defaultContext.operationStaleAfter, equals: .zero)
    let store = self.client.store(for: IntScript().query(path: ["a"]))
    store.currentValue = 1
    #expect(store.isStale)
  }
}

/// Writes a number into the context of each store.
private struct NumberingCreator: OperationClient.StoreCreator {
  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    var context = context
    context[NumberKey.self] = 100
    return .detached(operation: operation, initialState: initialState, initialContext: context)
  }
}

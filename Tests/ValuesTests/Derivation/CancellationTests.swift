import OperationCore
import OperationDedupe
import OperationDerivation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct CancellationTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  @Test
  func `A cancelled fetch leaves the state as it was, and the run of a source that nobody else awaits ends`()
    async throws
  {
    let gate = Gate()
    self.cell.hold(at: gate)
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query)
    let task = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await store.settled()
    let source = self.client.store(for: self.cell.query)
    await source.settled()
    #expect(store.status.isIdle && source.status.isIdle)
    #expect(!source.isLoading && source.subscriberCount == 0)
  }

  @Test
  func `The last subscriber's end cancels the run, and the sources are let go`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    try await gate.arrivals(count: 1)
    let source = self.client.store(for: self.cell.query)
    expect(source.subscriberCount, equals: 1)
    shown.end()
    await store.settled()
    await source.settled()
    #expect(store.status.isIdle && source.subscriberCount == 0 && !source.isLoading)
  }

  @Test
  func `A change of a source after a cancelled run runs the query for its subscribers`() async throws {
    self.client.store(for: self.cell.query).currentValue = 1
    let gate = Gate()
    let isHeld = Box(false)
    let derived = Derived("d") { [cell] context in
      let value = try await context.value(of: cell.query)
      if isHeld.value { try await gate.wait() }
      return value
    }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    isHeld.value = true
    let task = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    self.client.store(for: self.cell.query).currentValue = 2
    isHeld.value = false
    task.cancel()
    _ = await task.result
    await store.settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [1, 2])
  }

  @Test
  func `A source whose runs are cancelled cancels the run of the derived query, which keeps its value`() async throws {
    self.client.store(for: self.cell.query).currentValue = 1
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query)
    try await store.fetch()
    let gate = Gate()
    self.cell.hold(at: gate)
    self.client.invalidate(matching: ["cell"])
    let task = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    await self.client.cancel(matching: ["cell"])
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(store.currentValue == 1 && store.error == nil)
  }

  @Test
  func `Nothing is left when subscribers and stores have gone`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let client = OperationClient.automatic()
      let cells = (0..<20).map { Cell("\($0)", $0) }
      let shown = (0..<20).map { number in
        let token = lifetimes.token()
        let lower = Derived("lower\(number)") { context in
          token.touch()
          return try await context.value(of: cells[number].query)
        }
        let upper = Derived("upper\(number)") { context in
          token.touch()
          return try await context.value(of: lower.query) + context.value(of: cells[(number + 1) % 20].query)
        }
        return Shown(client.store(for: upper.query))
      }
      for cell in cells { client.store(for: cell.query).currentValue = 100 }
      await client.settledDerivations()
      #expect(shown.allSatisfy { $0.all.last == 200 })
      for shown in shown { shown.end() }
      #expect(client.stores().allSatisfy { $0.subscriberCount == 0 })
      client.clearStores()
    }
    try await lifetimes.noneAlive()
  }

  @Test
  func `A subscription that outlives its client keeps neither the store nor the source`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      var subscription: OperationSubscription?
      weak var store: OperationStore<QueryState<Int, any Error>>?
      weak var source: OperationStore<QueryState<Int, any Error>>?
      do {
        let client = OperationClient.automatic()
        let token = lifetimes.token()
        let derived = Derived("d") { [cell] context in
          token.touch()
          return try await context.value(of: cell.query)
        }
        let kept = client.store(for: derived.query)
        subscription = kept.subscribe(with: QueryEventHandler(), isolation: nil)
        (store, source) = (kept, client.store(for: self.cell.query))
        expect(source?.subscriberCount, equals: 1)
      }
      #expect(store == nil && source == nil)
      subscription?.cancel()
      subscription = nil
    }
    try await lifetimes.noneAlive()
  }

  @Test
  func `Two fetches of a derived query that shares runs call its body once`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let calls = Counter()
    let query = QueryOperation<Int, any Error>("d") { [cell] context in
      calls.increment()
      return try await context.value(of: cell.query)
    }
    .derived().deduplicated()
    let store = self.client.store(for: query)
    // Each joins or begins before the next line.
    let one = Task.immediate { try await store.fetch() }
    let two = Task.immediate { try await store.fetch() }
    gate.open()
    try await expect([one.value, two.value], equals: [1, 1])
    expect(calls.value, equals: 1)
  }
}

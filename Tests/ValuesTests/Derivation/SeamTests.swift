import OperationCore
import OperationDedupe
import OperationDerivation
import OperationMutation
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Derived queries beside other kinds of operations, clients, threads and ends of stores.
@Suite(.bounded, .warningsAreIssues)
struct SeamTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  private var source: OperationStore<QueryState<Int, any Error>> { self.client.store(for: self.cell.query) }

  // MARK: - Waiting

  @Test
  func `A handler of a source may wait for the queries that read it`() async throws {
    let derived = (0..<3).map { number in Derived("\(number)") { [cell] in try await $0.value(of: cell.query) } }
    let stores = derived.map { self.client.store(for: $0.query) }
    let shown = stores.map { Shown($0) }
    let waits = Log<Task<[Int?], Never>>()
    let subscription = self.source.subscribe(
      with: QueryEventHandler(onStateChanged: { [client] state, _ in
        if state.currentValue != 5 { return }
        // It begins on the thread that is about to run the queries.
        let wait = Task.immediate {
          await client.settledDerivations()
          return stores.map(\.currentValue)
        }
        waits.append(wait)
      }),
      isolation: nil
    )
    self.source.currentValue = 5
    await expect(waits.all.first?.value, equals: [5, 5, 5])
    subscription.cancel()
    expect(shown.map(\.all), equals: [[1, 5], [1, 5], [1, 5]])
  }

  // MARK: - Kinds of sources

  private func list(_ pages: Box<[Int]>) -> some PaginatedRequest<Int, Int, any Error> {
    PaginatedOperation<Int, Int, any Error>(
      "list",
      initialPageId: 0,
      pageIdAfter: { $0.id < 4 ? $0.id + 1 : nil },
      body: { paging, _ in pages.value[paging.pageId] }
    )
    .stale(after: .seconds(600))
  }

  @Test
  func `The pages of a list are a source, page by page`() async throws {
    let pages = Box([1, 10, 100, 1_000, 10_000])
    let list = self.list(pages)
    let sum = Derived("sum") { context in try await context.value(of: list).reduce(0) { $0 + $1.value } }
    let twice = Derived("twice") { try await $0.value(of: sum.query) * 2 }
    let shown = Shown(self.client.store(for: twice.query))
    expect(shown.all, equals: [2])
    let store = self.client.store(for: list)
    _ = try await store.fetchNextPage()
    _ = try await store.fetchNextPage()
    await self.client.settledDerivations()
    expect(shown.all, equals: [2, 22, 222])
    pages.value[1] = 20
    await self.client.invalidate(matching: ["list"]).settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [2, 22, 222, 242])
    store.currentValue.remove(id: 2)
    expect(shown.all, equals: [2, 22, 222, 242, 42])
    expect([sum, twice].map(\.calls.value), equals: [5, 5])
  }

  @Test
  func `Without a client the pages of a list are a plain run`() async throws {
    let list = self.list(Box([7]))
    let derived = Derived("d") { try await $0.value(of: list).first?.value ?? -1 }
    try await expect(OperationRunner(operation: derived.query).run(), equals: 7)
  }

  @Test
  func `A mutation is read as it is, and is never run`() async throws {
    let runs = Counter()
    let mutation = MutationOperation<Int, Int, any Error>("add") { number, _ in
      runs.increment()
      return number
    }
    let store = self.client.store(for: mutation)
    let derived = Derived("d") { context in
      try await context.value(of: mutation, initialState: MutationState()) ?? -1
    }
    let shown = Shown(self.client.store(for: derived.query))
    expect(shown.all, equals: [-1])
    try await store.mutate(with: 5)
    await self.client.settledDerivations()
    #expect(shown.all == [-1, 5] && runs.value == 1)
    #expect(!self.client.store(for: derived.query).isStale)
    self.client.invalidate()
    await self.client.settledDerivations()
    #expect(!self.client.store(for: derived.query).isStale && runs.value == 1)
    store.setResult(to: .failure(Missing(name: "mutation")))
    #expect(self.client.store(for: derived.query).error is Missing)
    _ = try? await self.client.store(for: derived.query).fetch()
    expect(runs.value, equals: 1)
    let plain = QueryOperation<Int, any Error>("plain") { context in
      try await context.value(of: mutation, initialState: MutationState()) ?? -1
    }
    try await expect(self.client.store(for: plain).fetch(), equals: 5)
    try await expect(OperationRunner(operation: plain).run(), equals: -1)
    expect(runs.value, equals: 1)
  }

  // MARK: - Clients

  @Test
  func `Queries of two clients read the stores of their own`() async throws {
    let other = OperationClient.automatic()
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let shown = [self.client, other].map { Shown($0.store(for: derived.query)) }
    self.source.currentValue = 5
    other.store(for: self.cell.query).currentValue = 6
    expect(shown.map(\.all), equals: [[1, 5], [1, 6]])
  }

  @Test
  func `A client that keeps no idle store has its sources while a run reads them`() async throws {
    let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0))
    let sum = Derived("sum") { [cell] context in
      try await context.value(of: cell.query) + context.value(of: Cell("b", 10).query)
    }
    let twice = Derived("twice") { try await $0.value(of: sum.query) * 2 }
    try await expect(client.store(for: twice.query).fetch(), equals: 22)
    expect([sum, twice].map(\.calls.value), equals: [1, 1])
  }

  // MARK: - Ends of stores

  @Test
  func `A source that is removed during its run is read from the new store`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    try await gate.arrivals(count: 1)
    self.cell.hold(at: nil)
    self.cell.set(2)
    self.client.clearStores(matching: ["cell"])
    gate.open()
    await store.settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [2])
    expect(self.source.subscriberCount, equals: 1)
  }

  @Test
  func `A derived store that is removed during its run leaves its sources with its last subscriber`() async throws {
    let gate = Gate()
    self.cell.hold(at: gate)
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let shown = Shown(self.client.store(for: derived.query))
    try await gate.arrivals(count: 1)
    self.client.clearStores(matching: ["derived"])
    shown.end()
    gate.open()
    await self.source.settled()
    await self.client.settledDerivations()
    expect(self.source.subscriberCount, equals: 0)
    self.source.currentValue = 3
    expect(derived.calls.value, equals: 1)
  }

  @Test
  func `A reset of a source runs it and then the query that reads it`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let shown = Shown(self.client.store(for: derived.query))
    self.cell.set(4)
    self.source.resetState()
    await self.client.settledDerivations()
    expect(shown.all, equals: [1, 4])
  }

  // MARK: - Reading

  @Test
  func `A thousand reads at once are a thousand sources`() async throws {
    let cells = (0..<1_000).map { Cell("\($0)", $0) }
    let derived = Derived("sum") { context in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for cell in cells { group.addTask { try await context.value(of: cell.query) } }
        return try await group.reduce(0, +)
      }
    }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    expect(shown.all, equals: [499_500])
    self.client.store(for: cells[0].query).currentValue = 500
    await self.client.settledDerivations()
    expect(shown.all, equals: [499_500, 500_000])
    #expect(derived.calls.value == 2 && cells.allSatisfy { $0.runCount == 1 })
    shown.end()
    #expect(cells.allSatisfy { self.client.store(for: $0.query).subscriberCount == 0 })
  }

  @Test
  func `A read after the end of the run makes no source`() async throws {
    let contexts = Log<OperationContext>()
    let derived = Derived("d") { context in
      contexts.append(context)
      return 1
    }
    let shown = Shown(self.client.store(for: derived.query))
    let context = try #require(contexts.all.first)
    try await expect(context.value(of: self.cell.query), equals: 1)
    expect(self.source.subscriberCount, equals: 0)
    self.source.currentValue = 2
    #expect(derived.calls.value == 1 && shown.all == [1])
  }

  @Test
  func `Values that are set with exclusive access are one change`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) }
    let shown = Shown(self.client.store(for: derived.query))
    self.source.withExclusiveAccess { store in
      store.currentValue = 2
      store.currentValue = 3
      expect(shown.all, equals: [1])
    }
    expect(shown.all, equals: [1, 3])
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `Handlers that set other sources are followed to the end`() async throws {
    let (b, c) = (Cell("b", 0), Cell("c", 0))
    let sum = Derived("sum") { [cell] context in
      try await context.value(of: cell.query) + 10 * context.value(of: b.query) + 100 * context.value(of: c.query)
    }
    let shown = Shown(self.client.store(for: sum.query))
    let subscriptions = [(self.cell, b), (b, c)].map { [client] from, to in
      client.store(for: from.query).subscribe(
        with: QueryEventHandler(onStateChanged: { state, _ in
          guard let value = state.currentValue, value > 1 else { return }
          client.store(for: to.query).currentValue = value
        }),
        isolation: nil
      )
    }
    self.source.currentValue = 2
    #expect(shown.all.first == 1 && shown.all.last == 222)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test @MainActor
  func `Bodies leave the actor of who sets a source`() async throws {
    let derived = QueryOperation<Bool, any Error>("d") { [cell] context in
      _ = try await context.value(of: cell.query)
      return #isolation == nil
    }
    .derived()
    let store = self.client.store(for: derived)
    let subscription = store.subscribe(with: QueryEventHandler(), isolation: nil)
    self.source.currentValue = 2
    expect(store.currentValue, equals: true)
    subscription.cancel()
  }

  @Test
  func `The freshness that a body of a source has said decides when it is read again`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query.stale(after: .seconds(600))) }
    try await expect(self.client.ensureValue(for: derived.query), equals: 1)
    #expect(!self.client.store(for: derived.query).isStale)
  }
}

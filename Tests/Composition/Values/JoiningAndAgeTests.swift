import Operation
import OperationDerivation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Readers who must not get a value from before an invalidation that came before them.
@Suite(.bounded, .warningsAreIssues) struct JoiningAndAgeTests {
  private let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
  private let script = OperationScript<Int, any Error>()

  @Test func `A fetch that joins a run from before an invalidation of its tag waits for another run`() async throws {
    let query = self.script.query(path: ["number"]).tagged { [.entity("number", $0 % 10)] }.deduplicated()
    let store = self.client.store(for: query)
    let joining = JoiningCallers()
    let observation = OpaqueOperationStore(erasing: store).reference.observe(with: joining)
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    let others = (0..<3).map { _ in Task.immediate { try await store.fetch() } }
    run.succeed(1)
    try await expect(first.value, equals: 1)
    let next = try await self.script.next()
    // All three have joined the first run, and two of them join the one that the third has begun.
    try await joining.runs.values(count: 3 + 2)
    next.succeed(11)
    for other in others { try await expect(other.value, equals: 11) }
    expect(self.script.runCount, equals: 2)
    observation.cancel()
  }

  @Test func `A fetch that joins a run from before an invalidation waits for another run if its store is removed`()
    async throws
  {
    var (epoch, count) = (InvalidationEpoch.zero, 0)
    // What a removed store has missed is not known, and another test may invalidate something between two callers.
    repeat {
      let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
      let script = OperationScript<Int, any Error>()
      let query = script.query(path: ["number"]).tagged { [.entity("number", $0 % 10)] }.deduplicated()
      let store = client.store(for: query)
      let joining = JoiningCallers()
      let observation = OpaqueOperationStore(erasing: store).reference.observe(with: joining)
      let first = Task.immediate { try await store.fetch() }
      let run = try await script.next()
      client.invalidate(tagged: .entity("number", 1))
      epoch = .latest
      let second = Task.immediate { try await store.fetch() }
      client.clearStores()
      let last = Task.immediate { try await store.fetch() }
      run.succeed(1)
      try await expect(first.value, equals: 1)
      let next = try await script.next()
      // Both have joined the first run, and one of them joins the one that the other has begun.
      try await joining.runs.values(count: 2 + 1)
      for _ in 0..<10 { script.enqueue(.value(11)) }
      next.succeed(11)
      try await expect(second.value, equals: 11)
      try await expect(last.value, equals: 11)
      count = script.runCount
      observation.cancel()
    } while InvalidationEpoch.latest != epoch
    expect(count, equals: 2)
  }

  @Test func `A fetch that has joined an earlier run of a removed store gets no value of it after the next run`()
    async throws
  {
    let query = self.script.query(path: ["number"]).tagged { [.entity("number", $0 % 10)] }.deduplicated()
    let store = self.client.store(for: query)
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    let joining = Task.immediate { try await store.fetch() }
    self.client.clearStores()
    let last = Task.immediate { try await store.fetch() }
    // The one that continues later joins the run of the other one, or finds that it has ended.
    for _ in 0..<10 { self.script.enqueue(.value(11)) }
    run.succeed(1)
    try await expect(first.value, equals: 1)
    try await expect(joining.value, equals: 11)
    try await expect(last.value, equals: 11)
  }

  @Test func `A task of a removed store gets no value of a run from before an invalidation that came before it`()
    async throws
  {
    let query = self.script.query(path: ["number"]).tagged { [.entity("number", $0 % 10)] }.deduplicated()
    let store = self.client.store(for: query)
    let joining = JoiningCallers()
    let observation = OpaqueOperationStore(erasing: store).reference.observe(with: joining)
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    self.client.clearStores()
    let task = store.fetchTask()
    let joined = Task.immediate { try await task.runIfNeeded() }
    try await joining.runs.values(count: 1)
    self.script.enqueue(.value(11))
    run.succeed(1)
    try await expect(first.value, equals: 1)
    try await expect(joined.value, equals: 11)
    observation.cancel()
  }

  @Test func `What a run of a removed store calls joins no work from before an invalidation`() async throws {
    let number = self.script.query(path: ["number"]).deduplicated()
    let outer = QueryOperation<Int, any Error>("outer") { context in
      try await number.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
    }
    let store = self.client.store(for: outer)
    self.client.clearStores()
    let outside = Task.immediate { try await OperationRunner(operation: number).run() }
    let earlier = try await self.script.next()
    self.invalidateNumber()
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(11)
    earlier.succeed(1)
    try await expect(outside.value, equals: 1)
    try await expect(fetch.value, equals: 11)
  }

  /// A list whose values are the numbers of its loads. After the first page, each load waits for the gate.
  private func list(_ gate: Gate, _ pages: Log<Int>) -> some PaginatedRequest<Int, Int, any Error> {
    PaginatedOperation(
      "list",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { _, _ -> Int in
        pages.append(pages.count)
        if pages.count > 1 { try await gate.wait() }
        return pages.count
      }
    )
  }

  @Test func `A call for a page that joins one whose page has missed an invalidation loads no other page`()
    async throws
  {
    let (gate, pages) = (Gate(), Log<Int>())
    let list = self.list(gate, pages)
    let store = self.client.store(for: list.tagged { [.entity("page", $0)] }.deduplicated())
    try await store.fetchNextPage()
    let first = Task.immediate { try await store.fetchNextPage() }
    try await gate.arrivals(count: 1)
    self.client.invalidate(tagged: .entity("page", 2))
    let second = Task.immediate { try await store.fetchNextPage() }
    gate.open()
    for call in [first, second] { _ = try await call.value }
    expect(pages.count, equals: 2)
    #expect(store.isStale)
  }

  @Test func `Calls for the next page of a removed store are joined whatever was invalidated before`() async throws {
    let (gate, pages) = (Gate(), Log<Int>())
    let store = self.client.store(for: self.list(gate, pages).deduplicated())
    try await store.fetchNextPage()
    self.invalidateNumber()
    self.client.clearStores()
    let first = Task.immediate { try await store.fetchNextPage() }
    try await gate.arrivals(count: 1)
    self.invalidateNumber()
    let others = (0..<2).map { _ in Task.immediate { try await store.fetchNextPage() } }
    gate.open()
    for call in [first] + others { _ = try await call.value }
    expect(pages.count, equals: 2)
  }

  @Test func `A call that joins one of a removed mutation is not made again, whatever was invalidated`() async throws {
    let (gate, calls) = (Gate(), Log<Int>())
    let mutation = MutationOperation<Int, Int, any Error>("increment") { number, _ in
      calls.append(number)
      try await gate.wait()
      return number + 1
    }
    let store = self.client.store(for: mutation.deduplicated())
    self.client.clearStores()
    let first = Task.immediate { try await store.mutate(with: 1) }
    try await gate.arrivals(count: 1)
    self.invalidateNumber()
    let second = Task.immediate { try await store.mutate(with: 1) }
    gate.open()
    for call in [first, second] { try await expect(call.value, equals: 2) }
    expect(calls.all, equals: [1])
  }

  /// Invalidates a store that has nothing to do with the others.
  private func invalidateNumber() {
    self.client.store(for: self.script.query(path: ["number"])).currentValue = 1
    self.client.invalidate(matching: ["number"])
  }

  @Test func `A first value that is handed back to its store is not fresh once its run is cancelled`() async throws {
    let query = self.script.query(path: ["number"]).hydratable(as: "number").stale(after: .seconds(1_000_000))
    let store = self.client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(1)
    #expect(store.isStale)
    self.client.hydrate(self.client.dehydrate())
    #expect(store.isStale)
    fetch.cancel()
    try await run.cancelled()
    _ = await fetch.result
    #expect(store.isStale)
  }

  @Test
  func `Pages that were handed over during a run, and were invalidated before, are no answer for who ensures them`()
    async throws
  {
    func list(_ gate: Gate?, _ count: Log<Int>) -> some PaginatedRequest<Int, Int, any Error> {
      PaginatedOperation(
        "list",
        initialPageId: 0,
        pageIdAfter: { _ in nil },
        body: { _, _ -> Int in
          count.append(count.count)
          try await gate?.wait()
          return 100 + count.count
        }
      )
      .hydratable(as: "list")
    }
    let server = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
    try await server.store(for: list(nil, Log())).fetchNextPage()
    let values = server.dehydrate()
    self.client.invalidate(matching: ["list"])
    let (gate, count) = (Gate(), Log<Int>())
    let pages = Task.immediate { try await self.client.ensureValue(for: list(gate, count)) }
    try await gate.arrivals(count: 1)
    self.client.hydrate(values)
    gate.open()
    try await expect(pages.value.map(\.value), equals: [102])
  }

  /// A query that doubles the number.
  private func derived() -> some QueryRequest<Int, any Error> {
    let number = self.script.query(path: ["number"]).stale(after: .seconds(1_000_000))
    return QueryOperation<Int, any Error>("double") { try await $0.value(of: number) * 2 }.derived()
  }

  @Test func `A derived value whose source was invalidated is too old for a reader who names an age`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let store = self.client.store(for: self.derived())
    try await expect(store.value(maximumAge: .seconds(60)), equals: 2)
    try await expect(store.value(maximumAge: .seconds(60)), equals: 2)
    expect(self.script.runCount, equals: 1)
    self.client.invalidate(matching: ["number"])
    try await expect(store.value(maximumAge: .seconds(60)), equals: 4)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `It is too old as well if another reader has fetched the source since`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let store = self.client.store(for: self.derived())
    try await expect(store.fetch(), equals: 2)
    self.client.invalidate(matching: ["number"])
    let number = self.script.query(path: ["number"]).stale(after: .seconds(1_000_000))
    try await expect(self.client.ensureValue(for: number), equals: 2)
    try await expect(store.value(maximumAge: .seconds(60)), equals: 4)
  }

  @Test func `A derived value is too old if its store was removed, because its sources are forgotten`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let store = self.client.store(for: self.derived())
    try await expect(store.fetch(), equals: 2)
    self.client.invalidate(matching: ["number"], rerunning: .none)
    self.client.clearStore(with: store.path)
    try await expect(store.value(maximumAge: .seconds(60)), equals: 4)
  }

  @Test func `It is too old as well if its source was removed, which no invalidation reaches any more`() async throws {
    self.script.enqueue(.value(1), .value(2))
    let number = self.script.query(path: ["number"]).stale(after: .seconds(1_000_000))
    let (source, store) = (self.client.store(for: number), self.client.store(for: self.derived()))
    try await expect(store.fetch(), equals: 2)
    self.client.clearStore(with: ["number"])
    self.client.invalidate(matching: ["number"])
    try await expect(store.value(maximumAge: .seconds(60)), equals: 4)
    expect(source.currentValue, equals: 1)
  }

  @Test func `A source whose run is cancelled with one of its readers runs again for the next one`() async throws {
    self.script.enqueue(.value(1))
    let derived = self.derived()
    let sum = self.client.store(
      for: QueryOperation<Int, any Error>("sum") { try await $0.value(of: derived) + 1 }.derived()
    )
    try await expect(sum.fetch(), equals: 3)
    self.client.invalidate(matching: ["number"], rerunning: .none)
    let fetch = Task.immediate { try await sum.fetch() }
    let cancelled = try await self.script.next()
    self.client.store(for: derived).resetState()
    try await cancelled.cancelled()
    try await self.script.next().succeed(2)
    try await expect(fetch.value, equals: 5)
  }

  @Test func `It is not returned while a run behind refreshes it`() async throws {
    self.script.enqueue(.value(1), .value(2))
    try await expect(self.client.ensureValue(for: self.derived(), refreshesBehind: true), equals: 2)
    self.client.invalidate(matching: ["number"])
    try await expect(self.client.ensureValue(for: self.derived(), refreshesBehind: true), equals: 4)
  }
}

/// The runs that callers have joined, once for each caller.
private final class JoiningCallers: StoreObserver {
  let runs = Receiver<OperationTaskIdentifier?>()

  var observedEvents: StoreEvent.Kinds { .runs }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .runJoined = event.what { self.runs.receive(event.run) }
  }
}

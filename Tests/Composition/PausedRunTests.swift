import Operation
import OperationTesting
import TestFixtures
import Testing

/// Pauses with other modifiers, and in the states of all kinds.
@Suite(.bounded, .warningsAreIssues)
struct PausedRunTests {
  private let network = MockNetworkObserver(initialStatus: .disconnected)
  private let script = OperationScript<Int, any Error>()

  private var waiting: some QueryRequest<Int, any Error> {
    self.script.query().waits(until: .connected(to: self.network))
  }

  @Test
  func `Deduplicated callers of several stores share one paused run`() async throws {
    let query = self.waiting.deduplicated()
    let stores = [OperationStore.detached(query: query), .detached(query: query)]
    let fetches = (stores + stores).map { store in Task.immediate { try await store.fetch() } }
    #expect(stores.allSatisfy { $0.isPaused && $0.isLoading })
    expect(self.network.subscriberCount, equals: 1)
    fetches[0].cancel()
    fetches[2].cancel()
    _ = await (fetches[0].result, fetches[2].result)
    #expect(!stores[0].isPaused && stores[1].isPaused)
    self.network.send(status: .connected)
    let run = try await self.script.next()
    #expect(!stores[1].isPaused && stores[1].isLoading)
    run.succeed(4)
    try await expect(fetches[1].value, equals: 4)
    try await expect(fetches[3].value, equals: 4)
    expect(self.script.runCount, equals: 1)
    expect(self.network.subscriberCount, equals: 0)
  }

  @Test
  func `Subscribers share a paused run, which ends with the last of them`() async throws {
    let store = OperationStore.detached(query: self.waiting.enableAutomaticRunning(onlyWhen: .always(true)))
    let first = store.subscribe { _ in }
    let second = store.subscribe { _ in }
    #expect(store.isPaused && self.network.subscriberCount == 1)
    first.cancel()
    #expect(store.isPaused)
    second.cancel()
    #expect(!store.isPaused && !store.isLoading)
    await store.settled()
    expect(self.network.subscriberCount, equals: 0)
  }

  @Test
  func `Inside a retry each attempt waits, and a wait that has timed out is a failed attempt`() async throws {
    let clock = ManualClock()
    let query = self.script.query().waits(until: .connected(to: self.network), timeout: .seconds(10)).retry(limit: 1)
    let store = OperationStore.detached(query: query.manualTime(clock))
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused && store.attempt?.index == 1)
    clock.advance(by: .seconds(10))
    try await clock.sleepers(count: 1, .delay)
    #expect(!store.isPaused)
    expect(store.attempt?.lastFailure as? OperationWaitTimedOut, equals: OperationWaitTimedOut(after: .seconds(10)))
    clock.advance(by: .seconds(1))
    try await clock.sleepers(count: 1, .deadline)
    #expect(store.isPaused && store.attempt?.index == 2)
    self.network.send(status: .connected)
    try await self.script.next().succeed(1)
    try await expect(fetch.value, equals: 1)
    try await clock.noSleepers()
  }

  @Test
  func `A list and a mutation show a pause`() async throws {
    let feed = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _ in paging.pageId }
    )
    let list = OperationStore.detached(query: feed.waits(until: .connected(to: self.network)), initialValue: [])
    let page = Task.immediate { try await list.fetchNextPage() }
    #expect(list.isPaused && list.isLoadingInitialPage)
    let mutation = MutationOperation("posts") { (text: String, _) in text }
    let posts = OperationStore.detached(mutation: mutation.waits(until: .connected(to: self.network)))
    let call = Task.immediate { try await posts.mutate(with: "a") }
    #expect(posts.isPaused && posts.history.map(\.task.isPaused) == [true])
    self.network.send(status: .connected)
    try await expect(page.value?.value, equals: 0)
    try await expect(call.value, equals: "a")
    #expect(!list.isPaused && !posts.isPaused)
  }

  @Test
  func `An invalidation while a run is paused leaves it, and the value stale until another run`() async throws {
    let client = OperationClient(storeCreator: .default(networkObserver: self.network, activityObserver: nil))
    let query = self.waiting.stale(after: .seconds(1_000))
    let store = client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused)
    client.invalidate(matching: store.path)
    #expect(store.isPaused && store.isStale)
    let later = Task.immediate { try await store.fetch() }
    expect(store.state.activeTasks.count, equals: 2)
    self.network.send(status: .connected)
    let runs = [try await self.script.next(), try await self.script.next()]
    for run in runs { run.succeed(1) }
    try await expect(fetch.value, equals: 1)
    try await expect(later.value, equals: 1)
    #expect(!store.isStale)
  }

  @Test
  func `A run on an executor of its own does not wait until one on the default executor has resumed`() async throws {
    let executor = SteppedExecutor()
    let (first, second) = (SwitchSpecification(false), SwitchSpecification(false))
    let stepped = OperationStore.detached(
      query: QueryOperation("stepped") { _ in 2 }.waits(until: second)
        .context { $0.operationTaskConfiguration.executorPreference = executor }
    )
    let isPaused = Box<[Bool]>([])
    let store = OperationStore.detached(
      query: QueryOperation("usual") { _ in 1 }.waits(until: first)
        .handleEvents(
          with: QueryEventHandler(onStateChanged: { state, _ in
            // In the middle of its resumption: later runs on the default executor have to wait.
            guard second.observerCount == 1, first.isSatisfied(in: OperationContext()), !state.isPaused else { return }
            second.set(true)
            executor.runAll()
            isPaused.value.append(stepped.isPaused)
          })
        )
    )
    let steppedFetch = Task.immediate { try await stepped.fetch() }
    executor.runAll()
    let fetch = Task.immediate { try await store.fetch() }
    #expect(stepped.isPaused && store.isPaused)
    first.set(true)
    try await expect(fetch.value, equals: 1)
    expect(isPaused.value, equals: [false])
    executor.runAll()
    try await expect(steppedFetch.value, equals: 2)
  }
}

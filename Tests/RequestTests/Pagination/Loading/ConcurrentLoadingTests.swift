import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Loads at the same time, loads that wait for others, and edits during a load.
@Suite(.bounded, .warningsAreIssues)
struct ConcurrentLoadingTests {
  @Test
  func `The next and the previous page load at once`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let runs = (try await server.script.next(), try await server.script.next())
    #expect(store.isLoadingNextPage && store.isLoadingPreviousPage)
    runs.1.succeed("p")
    try await expect(previous.value?.id, equals: -1)
    #expect(store.isLoadingNextPage && !store.isLoadingPreviousPage)
    runs.0.succeed("n")
    try await expect(next.value?.id, equals: 1)
    expect(store.text, equals: "-1p 0a 1n")
  }

  @Test
  func `Two loads at one end add a page each`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let second = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    expect(server.script.runCount, equals: 1)
    run.succeed("b")
    try await expect(first.value?.id, equals: 1)
    try await server.script.next().succeed("c")
    try await expect(second.value?.id, equals: 2)
    expect(store.text, equals: "0a 1b 2c")
  }

  @Test
  func `A load starts when the previous one fails or is cancelled`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let calls = (0..<3).map { _ in start { try await store.fetchNextPage() } }
    try await server.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await calls[0].value }
    let run = try await server.script.next()
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    #expect(run.isCancelled)
    try await server.script.next().succeed("b")
    try await expect(calls[2].value?.id, equals: 1)
    expect(store.text, equals: "0a 1b")
  }

  @Test
  func `A load that is cancelled while it waits never begins`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let second = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    run.succeed("b")
    _ = try await first.value
    expect(server.fetchedIds, equals: [1])
    #expect(!store.isLoading)
  }

  @Test
  func `A subscriber's refetch is not replaced by a load that waits`() async throws {
    let server = ListServer()
    let request = server.request.staleWhen { _, _ in true }.enableAutomaticRunning(onlyWhen: .always(true))
    let store = ListStore.detached(query: request, initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    let second = start { try await store.fetchNextPage() }
    let subscription = store.subscribe(with: PaginatedEventHandler())
    #expect(store.isLoadingAllPages)
    subscription.cancel()
    second.cancel()
    run.succeed("b")
    try await expect(first.value?.id, equals: 1)
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(server.fetchedIds, equals: [1])
  }

  @Test
  func `The initial page is loaded once for all callers`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let run = start { try await store.run() }
    try await server.script.next().succeed("a")
    try await expect(next.value, equals: Page(id: 0, value: "a"))
    try await expect(previous.value, equals: Page(id: 0, value: "a"))
    try await expect(run.value, equals: .initialPage(Page(id: 0, value: "a")))
    expect(server.fetchedIds, equals: [0])
    expect(store.valueUpdateCount, equals: 1)
    #expect(!store.isLoading)
  }

  @Test
  func `A load that waits for an initial page loads it when that load fails`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    let first = start { try await store.fetchNextPage() }
    let second = start { try await store.fetchPreviousPage() }
    try await server.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await first.value }
    try await server.script.next().succeed("a")
    try await expect(second.value, equals: Page(id: 0, value: "a"))
    #expect(store.error == nil)
  }

  @Test
  func `A refetch waits for the pages that are being loaded, and they wait for it`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let refetch = start { try await store.refetchAllPages() }
    let later = start { try await store.fetchNextPage() }
    try await server.script.next().succeed("b")
    try await expect(next.value?.id, equals: 1)
    #expect(store.isLoadingAllPages)
    try await server.script.next().succeed("A")
    try await server.script.next().succeed("B")
    try await expect(refetch.value, equals: List("A", "B"))
    try await server.script.next().succeed("c")
    try await expect(later.value?.id, equals: 2)
    expect(store.text, equals: "0A 1B 2c")
  }

  @Test
  func `A refetch does not wait for a load that waits for it`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let refetch = store.refetchAllPagesTask()
    let next = store.fetchNextPageTask()
    next.schedule(after: refetch)
    let load = start { try await next.runIfNeeded() }
    try await server.script.next().succeed("A")
    try await server.script.next().succeed("b")
    try await expect(load.value?.id, equals: 1)
    expect(store.text, equals: "0A 1b")
  }

  @Test
  func `Runs that a caller has scheduled one after the other do not wait in a cycle`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let first = store.runTask()
    let second = store.runTask()
    first.schedule(after: second)
    try await expect(first.runIfNeeded().request, equals: .allPages)
    #expect(second.isFinished)
  }

  @Test(arguments: [true, false])
  func `An edit made while a page loads survives`(isNext: Bool) async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let load = start { isNext ? try await store.fetchNextPage() : try await store.fetchPreviousPage() }
    let run = try await server.script.next()
    store.currentValue[id: 0]?.value = "edited"
    store.currentValue.remove(id: 1)
    store.currentValue.append(Page(id: 50, value: "new"))
    run.succeed("x")
    _ = try await load.value
    expect(store.text, equals: (isNext ? "0edited 50new 2x" : "-1x 0edited 50new"))
  }

  @Test(arguments: [true, false])
  func `A loaded page is added at its end, whatever happened to its neighbours`(isNext: Bool) async throws {
    for edit in [List(), List(from: 30, "p", "q")] {
      let server = ListServer()
      let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
      let load = start { isNext ? try await store.fetchNextPage() : try await store.fetchPreviousPage() }
      let run = try await server.script.next()
      store.currentValue = edit
      run.succeed("x")
      _ = try await load.value
      var expected = edit
      if isNext { expected.append(Page(id: 2, value: "x")) } else { expected.prepend(Page(id: -1, value: "x")) }
      expect(store.currentValue, equals: expected)
    }
  }

  @Test
  func `An edit of the page that is being loaded survives`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let load = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    run.yield("draft")
    expect(store.text, equals: "0a 1draft")
    store.currentValue[id: 1]?.value = "edited"
    run.yield("later draft")
    run.succeed("b")
    try await expect(load.value?.value, equals: "b")
    expect(store.text, equals: "0a 1edited")
  }

  @Test
  func `An edit during one load is not an edit during the next`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    server.enqueue("b", "A", "B", "AA", "BB")
    try await store.fetchNextPage()
    store.currentValue[id: 0]?.value = "edited"
    try await store.refetchAllPages()
    expect(store.text, equals: "0A 1B")
    try await store.refetchAllPages()
    expect(store.text, equals: "0AA 1BB")
  }

  @Test
  func `A load whose predecessor is cancelled waits for the load before that one`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let calls = (0..<3).map { _ in start { try await store.fetchNextPage() } }
    let run = try await server.script.next()
    calls[1].cancel()
    _ = await calls[1].result
    expect(server.script.runCount, equals: 1)
    run.succeed("b")
    try await server.script.next().succeed("c")
    try await expect(calls[2].value?.id, equals: 2)
    expect(store.text, equals: "0a 1b 2c")
  }

  @Test(arguments: [true, false])
  func `A load does not wait for one that it may run beside, whatever was cancelled between them`(
    isNextFirst: Bool
  ) async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next: @Sendable () async throws -> ListPage? = { try await store.fetchNextPage() }
    let previous: @Sendable () async throws -> ListPage? = { try await store.fetchPreviousPage() }
    let first = start(isNextFirst ? next : previous)
    let refetch = start { try await store.refetchAllPages() }
    let second = start(isNextFirst ? previous : next)
    let third = start(isNextFirst ? next : previous)
    let run = try await server.script.next()
    refetch.cancel()
    _ = await refetch.result
    try await server.script.next().succeed("x")
    try await expect(second.value?.id, equals: (isNextFirst ? -1 : 1))
    expect(server.script.runCount, equals: 2)
    run.succeed("y")
    try await expect(first.value?.id, equals: (isNextFirst ? 1 : -1))
    try await server.script.next().succeed("z")
    try await expect(third.value?.id, equals: (isNextFirst ? 2 : -2))
  }

  @Test
  func `A load waits for the refetch before a cancelled load`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let refetch = start { try await store.refetchAllPages() }
    let next = start { try await store.fetchNextPage() }
    let cancelled = start { try await store.refetchAllPages() }
    let previous = start { try await store.fetchPreviousPage() }
    cancelled.cancel()
    _ = await cancelled.result
    let run = try await server.script.next()
    expect(server.script.runCount, equals: 1)
    run.succeed("A")
    try await expect(refetch.value.text, equals: "0A")
    for run in try await [server.script.next(), server.script.next()] { run.succeed("x") }
    try await expect(next.value?.id, equals: 1)
    try await expect(previous.value?.id, equals: -1)
  }

  @Test
  func `A long line of waiting loads can be cancelled at once`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let server = ListServer()
      let store = ListStore.detached(query: server.request, initialValue: List("a"))
      var context = OperationContext()
      context.token = lifetimes.token()
      let calls = (0..<2_000).map { [context] _ in start { try await store.run(using: context) } }
      _ = try await server.script.next()
      for call in calls.reversed() { call.cancel() }
      for call in calls { _ = await call.result }
      #expect(!store.isLoading)
      expect(server.script.runCount, equals: 1)
    }
    try await lifetimes.noneAlive()
  }
}

extension OperationContext {
  fileprivate var token: LifetimeTracker.Token? {
    get { self[TokenKey.self] }
    set { self[TokenKey.self] = newValue }
  }

  private enum TokenKey: Key {
    static let defaultValue: LifetimeTracker.Token? = nil
  }
}

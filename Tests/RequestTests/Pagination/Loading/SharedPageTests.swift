import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Callers of the same page request share a run; others do not.
@Suite(.bounded, .warningsAreIssues)
struct SharedPageTests {
  @Test
  func `Two calls for the next page share a run`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let calls = (0..<3).map { _ in start { try await store.fetchNextPage() } }
    try await server.script.next().succeed("b")
    for call in calls { try await expect(call.value, equals: Page(id: 1, value: "b")) }
    expect(server.fetchedIds, equals: [1])
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Two calls for the next page end if an executor starts the later one first`() async throws {
    let executor = HoldingExecutor()
    let request = ListRequest(server: ListServer(.value("b"))).deduplicated().taskConfiguration {
      $0.executorPreference = executor
    }
    let store = ListStore.detached(query: request, initialValue: List("a"))
    let calls = (0..<3).map { _ in start { try await store.fetchNextPage() } }
    executor.release(.lastFirst)
    for call in calls {
      #expect(try await withTimeLimit("the page") { try await call.value } == Page(id: 1, value: "b"))
    }
  }

  @Test
  func `Calls for the next page that start at once on several threads all end`() async throws {
    let store = ListStore.detached(query: ListServer(.value("x")).request.deduplicated())
    for _ in 0..<200 {
      store.currentValue = List("a")
      try await withTimeLimit("the pages") {
        try await withThrowingTaskGroup { group in
          for _ in 0..<4 { group.addTask { _ = try await store.fetchNextPage() } }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test
  func `Calls for the next page, the previous page and all pages share nothing`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let all = (0..<2).map { _ in start { try await store.refetchAllPages() } }
    let run = start { try await store.run() }
    let runs = (try await server.script.next(), try await server.script.next())
    runs.0.succeed("n")
    runs.1.succeed("p")
    try await expect(next.value?.id, equals: 1)
    try await expect(previous.value?.id, equals: -1)
    for value in ["P", "A", "N"] { try await server.script.next().succeed(value) }
    for call in all { try await expect(call.value.text, equals: "-1P 0A 1N") }
    // If there are pages, a plain run refetches all of them too.
    try await expect(run.value, equals: .allPages(List(from: -1, "P", "A", "N")))
    expect(server.fetchedIds, equals: [1, -1, -1, 0, 1])
  }

  @Test
  func `A call after an invalidation takes no page of a run from before it`() async throws {
    let (server, client) = (ListServer(), OperationClient())
    let store = client.store(for: server.request)
    let first = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    client.invalidate(matching: store.path)
    let second = start { try await store.run() }
    run.succeed("old")
    try await expect(first.value, equals: Page(id: 0, value: "old"))
    try await server.script.next().succeed("new")
    try await expect(second.value, equals: .allPages(List("new")))
    #expect(!store.isInvalidated)
    expect(server.fetchedIds, equals: [0, 0])
  }

  @Test(arguments: [false, true])
  func `A call that begins without pages, and then loads one more, refreshes no list`(isChosen: Bool) async throws {
    let (server, client) = (ListServer(.value("new")), OperationClient())
    server.script.enqueue(.suspend)
    let query = server.request.stale(after: .seconds(60)).enableAutomaticRunning(onlyWhen: .always(true))
    let store = client.store(for: query)
    let subscription = store.subscribe(with: PaginatedEventHandler())
    let run = try await server.script.next()
    let invalidation = client.invalidate(matching: store.path)
    let call = start {
      if isChosen { try await store.refetchFirstPage() } else { try await store.fetchNextPage() }
    }
    run.succeed("old")
    try await expect(call.value?.value, equals: "new")
    await invalidation.settled()
    #expect(!store.isStale)
    expect(store.text, equals: (isChosen ? "0new" : "0new 1new"))
    expect(server.fetchedIds, equals: (isChosen ? [0, 0, 0] : [0, 1, 0, 1]))
    subscription.cancel()
  }

  @Test
  func `All calls that load the initial page share it`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated())
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let run = start { try await store.run() }
    expect(store.initialPageActiveTasks.count, equals: 1)
    try await server.script.next().succeed("a")
    try await expect(next.value?.id, equals: 0)
    try await expect(previous.value?.id, equals: 0)
    try await expect(run.value.page?.id, equals: 0)
    expect(server.fetchedIds, equals: [0])
  }

  @Test
  func `A call whose next page has changed meanwhile loads the new one`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    store.currentValue = List(from: 7, "z")
    let second = start { try await store.fetchNextPage() }
    expect(store.nextPageActiveTasks.count, equals: 2)
    run.succeed("b")
    try await expect(first.value?.id, equals: 1)
    try await server.script.next().succeed("y")
    try await expect(second.value?.id, equals: 2)
    expect(store.text, equals: "7z 1b 2y")
  }

  @Test
  func `Tasks for the next page share a run too`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let tasks = [store.fetchNextPageTask(), store.fetchNextPageTask()]
    let calls = tasks.map { task in start { try await task.runIfNeeded() } }
    try await server.script.next().succeed("b")
    for call in calls { try await expect(call.value?.id, equals: 1) }
    expect(server.fetchedIds, equals: [1])
    expect(store.text, equals: "0a 1b")
  }

  @Test
  func `A cancelled call does not end a run that others wait for`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let second = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!run.isCancelled)
    run.succeed("b")
    try await expect(second.value?.id, equals: 1)
  }
}

import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Callers of the same page request share a run; others do not.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct SharedPageTests {
  @Test
  func `Two calls for the next page are one`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let calls = (0..<3).map { _ in start { try await store.fetchNextPage() } }
    try await shelf.script.next().succeed("b")
    for call in calls { #expect(try await call.value == Page(id: 1, value: "b")) }
    #expect(shelf.fetchedIds == [1])
    #expect(store.valueUpdateCount == 1)
  }

  @Test
  func `Two calls for the next page end when an executor starts the later one first`() async throws {
    let executor = HoldingExecutor()
    let request = ListRequest(shelf: Shelf(.value("b"))).deduplicated().taskConfiguration {
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
  func `Calls for the next page that begin at once on several threads all end`() async throws {
    let store = ListStore.detached(query: Shelf(.value("x")).request.deduplicated())
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
  func `Calls for the next page, the previous one and all pages are three`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let all = (0..<2).map { _ in start { try await store.refetchAllPages() } }
    let run = start { try await store.run() }
    let runs = (try await shelf.script.next(), try await shelf.script.next())
    runs.0.succeed("n")
    runs.1.succeed("p")
    #expect(try await next.value?.id == 1)
    #expect(try await previous.value?.id == -1)
    for value in ["P", "A", "N"] { try await shelf.script.next().succeed(value) }
    for call in all { #expect(try await call.value.text == "-1P 0A 1N") }
    // A plain run asks for all pages as well, where there are pages.
    #expect(try await run.value == .allPages(List(from: -1, "P", "A", "N")))
    #expect(shelf.fetchedIds == [1, -1, -1, 0, 1])
  }

  @Test
  func `All callers of the initial page share it, in every form of the call`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated())
    let next = start { try await store.fetchNextPage() }
    let previous = start { try await store.fetchPreviousPage() }
    let run = start { try await store.run() }
    #expect(store.initialPageActiveTasks.count == 1)
    try await shelf.script.next().succeed("a")
    #expect(try await next.value?.id == 0)
    #expect(try await previous.value?.id == 0)
    #expect(try await run.value.page?.id == 0)
    #expect(shelf.fetchedIds == [0])
  }

  @Test
  func `A call whose next page is another by now loads that`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let run = try await shelf.script.next()
    store.currentValue = List(from: 7, "z")
    let second = start { try await store.fetchNextPage() }
    #expect(store.nextPageActiveTasks.count == 2)
    run.succeed("b")
    #expect(try await first.value?.id == 1)
    try await shelf.script.next().succeed("y")
    #expect(try await second.value?.id == 2)
    #expect(store.text == "7z 1b 2y")
  }

  @Test
  func `Tasks for the next page share it too`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let tasks = [store.fetchNextPageTask(), store.fetchNextPageTask()]
    let calls = tasks.map { task in start { try await task.runIfNeeded() } }
    try await shelf.script.next().succeed("b")
    for call in calls { #expect(try await call.value?.id == 1) }
    #expect(shelf.fetchedIds == [1])
    #expect(store.text == "0a 1b")
  }

  @Test
  func `A call that leaves does not end what others wait for`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let second = start { try await store.fetchNextPage() }
    let run = try await shelf.script.next()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!run.isCancelled)
    run.succeed("b")
    #expect(try await second.value?.id == 1)
  }
}

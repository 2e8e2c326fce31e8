import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Loads of one page after the other.
@Suite(.bounded, .warningsAreIssues)
struct PageLoadingTests {
  @Test
  func `The first call loads the initial page, the following ones the next`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    server.enqueue("a", "b", "c")
    try await expect(store.fetchNextPage(), equals: Page(id: 0, value: "a"))
    try await expect(store.fetchNextPage(), equals: Page(id: 1, value: "b"))
    try await expect(store.fetchNextPage(), equals: Page(id: 2, value: "c"))
    expect(store.text, equals: "0a 1b 2c")
    expect(store.valueUpdateCount, equals: 3)
    expect(store.status.resultValue, equals: List("a", "b", "c"))
    expect(server.pagings.map(\.request), equals: [.initialPage, .nextPage, .nextPage])
    expect(server.pagings.map(\.pages.text), equals: ["", "0a", "0a 1b"])
  }

  @Test
  func `Previous pages are added at the front, and the first call for one loads the initial page`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    server.enqueue("a", "b", "c")
    try await expect(store.fetchPreviousPage(), equals: Page(id: 0, value: "a"))
    try await expect(store.fetchPreviousPage(), equals: Page(id: -1, value: "b"))
    try await expect(store.fetchNextPage(), equals: Page(id: 1, value: "c"))
    expect(store.text, equals: "-1b 0a 1c")
    expect(server.pagings.map(\.request), equals: [.initialPage, .previousPage, .nextPage])
  }

  @Test
  func `A direction ends where there is no page, and the call returns nil`() async throws {
    let server = ListServer(.value("x"))
    server.bounds = 0...1
    let store = ListStore.detached(query: server.request)
    try await store.fetchNextPage()
    try await store.fetchNextPage()
    let updates = store.valueUpdateCount
    try await expect(store.fetchNextPage(), equals: nil)
    try await expect(store.fetchPreviousPage(), equals: nil)
    expect(store.valueUpdateCount, equals: updates)
    #expect(store.status.isSuccessful)
    expect(server.fetchedIds, equals: [0, 1])
    #expect(!store.hasNextPage)
    #expect(!store.hasPreviousPage)
  }

  @Test(arguments: [0, 1, 2])
  func `The identifier of a present page ends a direction`(repeated: Int) async throws {
    let server = ListServer(.value("x"))
    server.setNext { $0 == 2 ? repeated : $0 + 1 }
    let store = ListStore.detached(query: server.request)
    for _ in 0..<3 { try await store.fetchNextPage() }
    expect(store.nextPageId, equals: nil)
    try await expect(store.fetchNextPage(), equals: nil)
    try await expect(store.refetchAllPages().count, equals: 3)
    expect(server.fetchedIds, equals: [0, 1, 2, 0, 1, 2])
  }

  @Test
  func `A run loads the initial page if there are no pages, and refetches all otherwise`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    server.enqueue("a", "b", "A", "B")
    try await expect(store.run(), equals: .initialPage(Page(id: 0, value: "a")))
    try await store.fetchNextPage()
    try await expect(store.run(), equals: .allPages(List("A", "B")))
    expect(store.text, equals: "0A 1B")
    expect(server.pagings.map(\.request), equals: [.initialPage, .nextPage, .allPages, .allPages])
  }

  @Test
  func `A subscription loads the initial page, or refetches all pages`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.enableAutomaticRunning(onlyWhen: .always(true)))
    let recorder = ListRecorder()
    server.enqueue("a")
    let first = store.subscribe(with: recorder.handler)
    try await recorder.first { $0.digest == .ended }
    expect(store.text, equals: "0a")
    server.enqueue("b", "A", "B")
    try await store.fetchNextPage()
    recorder.removeAll()
    let second = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second).cancel() }
    try await recorder.first { $0.digest == .ended }
    expect(store.text, equals: "0A 1B")
  }

  @Test
  func `The pages that are being loaded show in the state`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    func flags() -> [Bool] {
      let state = store.state
      return [
        state.isLoadingInitialPage, state.isLoadingNextPage, state.isLoadingPreviousPage, state.isLoadingAllPages,
      ]
    }
    expect(flags(), equals: [false, false, false, false])
    let calls: [(@Sendable () async throws -> Void, pages: Int, [Bool])] = [
      ({ try await store.fetchNextPage() }, 1, [true, false, false, false]),
      ({ try await store.fetchNextPage() }, 1, [false, true, false, false]),
      ({ try await store.fetchPreviousPage() }, 1, [false, false, true, false]),
      ({ try await store.refetchAllPages() }, 3, [false, false, false, true]),
    ]
    for (call, pages, expected) in calls {
      let task = start(call)
      for _ in 0..<pages {
        let run = try await server.script.next()
        expect(flags(), equals: expected)
        #expect(store.isLoading)
        #expect(store.status.isLoading)
        run.succeed("x")
      }
      try await task.value
      expect(flags(), equals: [false, false, false, false])
      #expect(!store.isLoading)
    }
  }

  @Test
  func `A page that fails changes no other page, and can be loaded again`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    server.script.enqueue(.error(Refused()), .value("b"))
    await #expect(throws: Refused()) { try await store.fetchNextPage() }
    expect(store.text, equals: "0a")
    #expect(store.error is Refused)
    expect(store.errorUpdateCount, equals: 1)
    expect(store.nextPageId, equals: 1)
    try await store.fetchNextPage()
    #expect(store.error == nil)
    expect(store.text, equals: "0a 1b")
  }

  @Test
  func `A cancelled load changes nothing`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let task = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    run.yield("draft")
    expect(store.text, equals: "0a 1draft")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(store.text, equals: "0a")
    expect(store.valueUpdateCount, equals: 0)
    #expect(store.error == nil)
    #expect(store.status.isIdle)
  }

  @Test
  func `A task loads its page once, when it is run`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    server.enqueue("a", "b", "c", "A", "B", "C")
    let tasks = (store.fetchNextPageTask(), store.fetchNextPageTask(), store.fetchPreviousPageTask())
    expect(server.script.runCount, equals: 0)
    try await expect(tasks.0.runIfNeeded()?.id, equals: 0)
    try await expect(tasks.0.runIfNeeded()?.id, equals: 0)
    try await expect(tasks.1.runIfNeeded()?.id, equals: 1)
    try await expect(tasks.2.runIfNeeded()?.id, equals: -1)
    try await expect(store.refetchAllPagesTask().runIfNeeded().map { $0.value }, equals: ["A", "B", "C"])
    expect(server.fetchedIds, equals: [0, 1, -1, -1, 0, 1])
  }

  @Test
  func `A reset restores the initial pages and drops what is being loaded`() async throws {
    let server = ListServer(endsOnCancellation: false)
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    server.enqueue("b")
    try await store.fetchNextPage()
    let task = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    store.resetState()
    expect(store.text, equals: "0a")
    #expect(!store.isLoading)
    run.succeed("c")
    _ = await task.result
    expect(store.text, equals: "0a")
    expect(store.nextPageId, equals: 1)
  }

  @Test
  func `An operation without a store loads the initial page`() async throws {
    let server = ListServer(.value("a"))
    let value = try await OperationRunner(operation: server.request).run()
    expect(value, equals: .initialPage(Page(id: 0, value: "a")))
  }

  @Test
  func `The tasks are named by what they load`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.staleWhenNoValue())
    expect(store.fetchNextPageTask().configuration.name, equals: "ListRequest: next page")
    expect(store.fetchPreviousPageTask().configuration.name, equals: "ListRequest: previous page")
    expect(store.refetchAllPagesTask().configuration.name, equals: "ListRequest: all pages")
    let fetch = start { try await store.fetchNextPage() }
    expect(store.initialPageActiveTasks.map(\.configuration.name), equals: ["ListRequest: initial page"])
    try await server.script.next().succeed("a")
    _ = await fetch.result
  }
}

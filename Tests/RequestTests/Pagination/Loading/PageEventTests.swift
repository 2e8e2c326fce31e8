import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The events that handlers receive of runs and of their pages.
@Suite(.bounded, .warningsAreIssues)
struct PageEventTests {
  @Test
  func `A page is reported between the beginning and the end of its run`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request)
    let log = Log<String>()
    let subscription = store.subscribe(with: log.handler(states: true))
    defer { subscription.cancel() }
    try await store.fetchNextPage()
    expect(
      log.all,
      equals: [
        "state[]", "state[]", "start", "page 0", "state[0x]", "result 0 x", "end 0", "run 0x", "end",
      ]
    )
  }

  @Test
  func `A refetch reports each page, its yields and its error`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let log = Log<String>()
    server.script.enqueue(.yield(.success("draft"), then: .value("A")), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages(handler: log.handler()) }
    expect(
      log.all,
      equals: [
        "start", "page 0", "yield 0 draft", "run 0draft", "result 0 A", "end 0", "page 1", "result 1 error", "end 1",
        "run error", "end",
      ]
    )
  }

  @Test
  func `A handler of one call receives the events of its run alone`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let (next, previous) = (Log<String>(), Log<String>())
    let calls = [
      start { try await store.fetchNextPage(handler: next.handler(states: true)) },
      start { try await store.fetchPreviousPage(handler: previous.handler(states: true)) },
    ]
    let runs = (try await server.script.next(), try await server.script.next())
    runs.1.succeed("p")
    _ = try await calls[1].value
    runs.0.succeed("n")
    _ = try await calls[0].value
    expect(
      next.all,
      equals: ["state[0a]", "start", "page 1", "state[-1p 0a 1n]", "result 1 n", "end 1", "run 1n", "end"]
    )
    expect(
      previous.all,
      equals: ["state[0a]", "start", "page -1", "state[-1p 0a]", "result -1 p", "end -1", "run -1p", "end"]
    )
  }

  @Test
  func `Handlers are called in the order in which they were added`() async throws {
    let server = ListServer(.value("x"))
    let log = Log<String>()
    let store = ListStore.detached(query: server.request.handleEvents(with: log.handler("a ")))
    let subscriptions = [store.subscribe(with: log.handler("b ")), store.subscribe(with: log.handler("c "))]
    defer { OperationSubscription.combined(subscriptions).cancel() }
    try await store.fetchNextPage(handler: log.handler("d "))
    let events = ["start", "page 0", "result 0 x", "end 0", "run 0x", "end"]
    expect(log.all, equals: events.flatMap { event in ["a", "b", "c", "d"].map { "\($0) \(event)" } })
  }

  @Test
  func `A subscriber that is added during a run receives the pages from then on`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    try await server.script.next().succeed("A")
    let run = try await server.script.next()
    let log = Log<String>()
    let subscription = store.subscribe(with: log.handler())
    defer { subscription.cancel() }
    run.succeed("B")
    _ = try await refetch.value
    expect(log.all, equals: ["result 1 B", "end 1", "run 0A 1B", "end"])
  }

  @Test
  func `A subscriber that leaves during a run receives no more`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let log = Log<String>()
    let subscription = store.subscribe(with: log.handler())
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    subscription.cancel()
    run.succeed("A")
    try await server.script.next().succeed("B")
    _ = try await refetch.value
    expect(log.all, equals: ["start", "page 0"])
  }

  @Test
  func `A caller that joins a run receives its start, its pages and then its result`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let log = Log<String>()
    let first = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    let second = start { try await store.fetchNextPage(handler: log.handler()) }
    run.succeed("b")
    _ = try await (first.value, second.value)
    expect(log.all, equals: ["start", "page 1", "result 1 b", "end 1", "run 1b", "end"])
  }

  @Test
  func `A cancelled page has an end and no result`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let log = Log<String>()
    let subscription = store.subscribe(with: log.handler())
    defer { subscription.cancel() }
    let load = start { try await store.fetchNextPage() }
    _ = try await server.script.next()
    load.cancel()
    _ = await load.result
    expect(log.all, equals: ["start", "page 1", "end 1", "end"])
  }

  @Test
  func `A handler may do anything to its store`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request)
    let log = Log<String>()
    let subscription = Mutex<OperationSubscription?>(nil)
    let handler = PaginatedEventHandler<ListState>(
      onPageFetchingStarted: { id, _ in store.currentValue.append(Page(id: 50, value: "h\(id)")) },
      onPageResultReceived: { _, _, _ in subscription.withLock { $0.take() }?.cancel() },
      onPageFetchingEnded: { id, _ in log.append("end \(id)") }
    )
    subscription.withLock { $0 = store.subscribe(with: handler) }
    try await store.fetchNextPage()
    expect(store.text, equals: "50h0 0x")
    #expect(log.all.isEmpty)
  }

  @Test
  func `Handlers and runs are released`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let server = ListServer(.value("x"))
      let token = lifetimes.token()
      let handler = PaginatedEventHandler<ListState>(
        onStateChanged: { _, _ in token.touch() },
        onPageFetchingStarted: { _, _ in token.touch() }
      )
      let store = ListStore.detached(query: server.request.handleEvents(with: handler))
      let subscription = store.subscribe(with: handler)
      for _ in 0..<3 { try await store.fetchNextPage(handler: handler) }
      try await store.refetchAllPages(handler: handler)
      subscription.cancel()
    }
    try await lifetimes.noneAlive()
  }
}

import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What handlers hear of, run by run and page by page.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct PageEventTests {
  /// Writes events down as text, under a name.
  final class Diary: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { self.lines.withLock { $0 } }

    func note(_ line: String) {
      self.lines.withLock { $0.append(line) }
    }

    func handler(_ name: String = "", states: Bool = false) -> PaginatedEventHandler<ListState> {
      var handler = PaginatedEventHandler<ListState>()
      if states { handler.onStateChanged = { state, _ in self.note("\(name)state[\(state.currentValue.text)]") } }
      handler.onFetchingStarted = { _ in self.note("\(name)start") }
      handler.onPageFetchingStarted = { id, _ in self.note("\(name)page \(id)") }
      handler.onPageResultReceived = { id, result, context in
        let kind = context.operationResultUpdateReason == .yieldedResult ? "yield" : "result"
        let value = (try? result.get())?.value ?? "error"
        self.note("\(name)\(kind) \(id) \(value)")
      }
      handler.onResultReceived = { result, _ in
        let text = (try? result.get())?.pages.text ?? "error"
        self.note("\(name)run \(text)")
      }
      handler.onPageFetchingEnded = { id, _ in self.note("\(name)end \(id)") }
      handler.onFetchingEnded = { _ in self.note("\(name)end") }
      return handler
    }
  }

  @Test
  func `A page is reported between the beginning and the end of its run`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request)
    let diary = Diary()
    let subscription = store.subscribe(with: diary.handler(states: true))
    defer { subscription.cancel() }
    try await store.fetchNextPage()
    #expect(
      diary.all == [
        "state[]", "state[]", "start", "page 0", "state[0x]", "result 0 x", "end 0", "run 0x", "end",
      ]
    )
  }

  @Test
  func `A refetch reports each page, its yields and its error`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let diary = Diary()
    shelf.script.enqueue(.yield(.success("draft"), then: .value("A")), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages(handler: diary.handler()) }
    #expect(
      diary.all == [
        "start", "page 0", "yield 0 draft", "run 0draft", "result 0 A", "end 0", "page 1", "result 1 error", "end 1",
        "run error", "end",
      ]
    )
  }

  @Test
  func `A handler of one call receives the events of its run alone`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let (next, previous) = (Diary(), Diary())
    let calls = [
      start { try await store.fetchNextPage(handler: next.handler(states: true)) },
      start { try await store.fetchPreviousPage(handler: previous.handler(states: true)) },
    ]
    let runs = (try await shelf.script.next(), try await shelf.script.next())
    runs.1.succeed("p")
    _ = try await calls[1].value
    runs.0.succeed("n")
    _ = try await calls[0].value
    #expect(next.all == ["state[0a]", "start", "page 1", "state[-1p 0a 1n]", "result 1 n", "end 1", "run 1n", "end"])
    #expect(
      previous.all == ["state[0a]", "start", "page -1", "state[-1p 0a]", "result -1 p", "end -1", "run -1p", "end"]
    )
  }

  @Test
  func `Handlers are called in the order in which they came`() async throws {
    let shelf = Shelf(.value("x"))
    let diary = Diary()
    let store = ListStore.detached(query: shelf.request.handleEvents(with: diary.handler("a ")))
    let subscriptions = [store.subscribe(with: diary.handler("b ")), store.subscribe(with: diary.handler("c "))]
    defer { OperationSubscription.combined(subscriptions).cancel() }
    try await store.fetchNextPage(handler: diary.handler("d "))
    let events = ["start", "page 0", "result 0 x", "end 0", "run 0x", "end"]
    #expect(diary.all == events.flatMap { event in ["a", "b", "c", "d"].map { "\($0) \(event)" } })
  }

  @Test
  func `A subscriber that comes during a run receives the pages from then on`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    try await shelf.script.next().succeed("A")
    let run = try await shelf.script.next()
    let diary = Diary()
    let subscription = store.subscribe(with: diary.handler())
    defer { subscription.cancel() }
    run.succeed("B")
    _ = try await refetch.value
    #expect(diary.all == ["result 1 B", "end 1", "run 0A 1B", "end"])
  }

  @Test
  func `A subscriber that leaves during a run receives no more`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let diary = Diary()
    let subscription = store.subscribe(with: diary.handler())
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    subscription.cancel()
    run.succeed("A")
    try await shelf.script.next().succeed("B")
    _ = try await refetch.value
    #expect(diary.all == ["start", "page 0"])
  }

  @Test
  func `A caller that joins a run receives its start, its pages and then its result`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let diary = Diary()
    let first = start { try await store.fetchNextPage() }
    let run = try await shelf.script.next()
    let second = start { try await store.fetchNextPage(handler: diary.handler()) }
    run.succeed("b")
    _ = try await (first.value, second.value)
    #expect(diary.all == ["start", "page 1", "result 1 b", "end 1", "run 1b", "end"])
  }

  @Test
  func `A cancelled page has an end and no result`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let diary = Diary()
    let subscription = store.subscribe(with: diary.handler())
    defer { subscription.cancel() }
    let load = start { try await store.fetchNextPage() }
    _ = try await shelf.script.next()
    load.cancel()
    _ = await load.result
    #expect(diary.all == ["start", "page 1", "end 1", "end"])
  }

  @Test
  func `A handler may do anything to its store`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request)
    let diary = Diary()
    let subscription = Mutex<OperationSubscription?>(nil)
    let nosy = PaginatedEventHandler<ListState>(
      onPageFetchingStarted: { id, _ in store.currentValue.append(Page(id: 50, value: "h\(id)")) },
      onPageResultReceived: { _, _, _ in subscription.withLock { $0.take() }?.cancel() },
      onPageFetchingEnded: { id, _ in diary.note("heard of the end of \(id)") }
    )
    subscription.withLock { $0 = store.subscribe(with: nosy) }
    try await store.fetchNextPage()
    #expect(store.text == "50h0 0x")
    #expect(diary.all.isEmpty)
  }

  @Test
  func `Nothing is left of handlers and runs`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let shelf = Shelf(.value("x"))
      let token = lifetimes.token()
      let handler = PaginatedEventHandler<ListState>(
        onStateChanged: { _, _ in token.touch() },
        onPageFetchingStarted: { _, _ in token.touch() }
      )
      let store = ListStore.detached(query: shelf.request.handleEvents(with: handler))
      let subscription = store.subscribe(with: handler)
      for _ in 0..<3 { try await store.fetchNextPage(handler: handler) }
      try await store.refetchAllPages(handler: handler)
      subscription.cancel()
    }
    try await lifetimes.noneAlive()
  }
}

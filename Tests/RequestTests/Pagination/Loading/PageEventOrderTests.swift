import OperationCore
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The events of a run come in one order: start, then for each page state, page, result, then the end.
@Suite(.bounded, .warningsAreIssues)
struct PageEventOrderTests {
  @Test
  func `A yield and a returned page are reported in the same order`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let log = Log<String>()
    server.script.enqueue(.yield(.success("draft"), then: .yield(.failure(Refused()), then: .value("b"))))
    try await store.fetchNextPage(handler: log.handler(states: true))
    expect(
      log.all,
      equals: [
        "state[0a]", "start", "page 1",
        "state[0a 1draft]", "yield 1 draft", "run 1draft",
        "state[0a 1draft]", "yield 1 error", "run error",
        "state[0a 1b]", "result 1 b", "end 1", "run 1b", "end",
      ]
    )
  }

  @Test
  func `All handlers receive the state before any receives the page, and the page before the result`() async throws {
    let server = ListServer()
    let log = Log<String>()
    let request = server.request.handleEvents(with: log.handler("a ", states: true))
    let store = ListStore.detached(query: request, initialValue: List("a"))
    let subscription = store.subscribe(with: log.handler("b ", states: true))
    defer { subscription.cancel() }
    server.script.enqueue(.yield(.success("d"), then: .error(Refused())))
    await #expect(throws: Refused()) { try await store.fetchNextPage() }
    let events = [
      "start", "page 1", "state[0a 1d]", "yield 1 d", "run 1d", "state[0a 1d]", "result 1 error", "end 1", "run error",
      "end",
    ]
    let expected = events.flatMap { ["a \($0)", "b \($0)"] }
    expect(log.all.suffix(expected.count), equals: expected[...])
  }

  @Test
  func `A call in a handler receives its run in order, after the event that is being delivered`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let log = Log<String>()
    let call = Mutex<Task<ListPage?, any Error>?>(nil)
    let caller = PaginatedEventHandler<ListState>(onStateChanged: { state, _ in
      guard state.currentValue[id: 0]?.value == "now", call.withLock({ $0 == nil }) else { return }
      let task = start { try await store.fetchNextPage(handler: log.handler(states: true)) }
      call.withLock { $0 = task }
      // The page is being fetched, and the event that is being delivered comes first.
      expect(server.fetchedIds, equals: [1])
      #expect(log.all.isEmpty)
    })
    let subscription = store.subscribe(with: caller)
    defer { subscription.cancel() }
    store.currentValue[id: 0]?.value = "now"
    expect(log.all, equals: ["state[0now]", "start", "page 1"])
    try await server.script.next().succeed("b")
    _ = try await call.withLock { $0 }?.value
    expect(log.all.dropFirst(3), equals: ["state[0now 1b]", "result 1 b", "end 1", "run 1b", "end"])
  }

  @Test
  func `A run that ends during another event is reported in full, and its handler is released`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let server = ListServer(.yield(.success("d"), then: .value("b")))
      let store = ListStore.detached(query: server.request, initialValue: List("a"))
      let log = Log<String>()
      let token = lifetimes.token()
      var handler = log.handler(states: true)
      let onFetchingEnded = handler.onFetchingEnded
      handler.onFetchingEnded = { context in
        token.touch()
        onFetchingEnded?(context)
      }
      let caller = PaginatedEventHandler<ListState>(onStateChanged: { [handler] state, _ in
        guard state.currentValue.text == "0now", !state.isLoading else { return }
        let task = start { try await store.fetchNextPage(handler: handler) }
        task.cancel()
        expect(store.text, equals: "0now 1b")
      })
      let subscription = store.subscribe(with: caller)
      store.currentValue[id: 0]?.value = "now"
      subscription.cancel()
      expect(
        log.all,
        equals: [
          "state[0now]", "start", "page 1", "state[0now 1d]", "yield 1 d", "run 1d", "state[0now 1b]", "result 1 b",
          "end 1", "run 1b", "end",
        ]
      )
    }
    try await lifetimes.noneAlive()
  }

  @Test
  func `Calls on many threads receive their runs in order`() async throws {
    let server = ListServer(.yield(.success("d"), then: .value("x")))
    server.bounds = -10_000...10_000
    for _ in 0..<60 {
      let store = ListStore.detached(query: server.request, initialValue: List("a"))
      let everything = Log<String>()
      let subscription = store.subscribe(with: everything.handler())
      await withDiscardingTaskGroup { group in
        for number in 0..<6 {
          group.addTask {
            let log = Log<String>()
            let handler = log.handler()
            let page =
              number.isMultiple(of: 2)
              ? try? await store.fetchNextPage(handler: handler) : try? await store.fetchPreviousPage(handler: handler)
            guard let id = page?.id else {
              Issue.record("There is no page.")
              return
            }
            // Another thread may still be delivering the last events.
            let expected = [
              "start", "page \(id)", "yield \(id) d", "run \(id)d", "result \(id) x", "end \(id)", "run \(id)x", "end",
            ]
            let received = log.all
            expect(received, equals: Array(expected.prefix(received.count)))
          }
          // With exclusive access: a page that is added between the read and the write would be lost.
          group.addTask { store.withExclusiveAccess { $0.currentValue[id: 0]?.value = "edited" } }
        }
      }
      subscription.cancel()
      for id in -3...3 where id != 0 {
        let expected = ["page \(id)", "yield \(id) d", "run \(id)d", "result \(id) x", "end \(id)", "run \(id)x"]
        expect(everything.all.filter(Set(expected).contains), equals: expected)
      }
    }
  }
}

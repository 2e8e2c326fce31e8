import OperationCore
import OperationPagination
import OperationTesting
import Testing

/// The state next to its pages: staleness, defaults, clients, modifiers, optimistic values.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct PaginatedStateTests {
  @Test
  func `It is stale while there are no pages`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request.staleWhenNoValue())
    #expect(store.isStale)
    try await store.fetchNextPage()
    #expect(!store.isStale)
    store.currentValue = []
    #expect(store.isStale)
  }

  @Test
  func `Default pages are shown while there are none, and are not loaded from`() async throws {
    let shelf = Shelf(.value("x"))
    let request = shelf.request.defaultValue(List(from: 40, "placeholder")).staleWhenNoValue()
    let client = OperationClient()
    for store in [OperationStore.detached(query: request), client.store(for: request)] {
      #expect(store.currentValue.text == "40placeholder")
      #expect(store.isStale)
      #expect(store.nextPageId == 0)
      #expect(try await store.fetchNextPage()?.id == 0)
      #expect(try await store.fetchNextPage()?.id == 1)
      #expect(store.currentValue.text == "0x 1x")
      #expect(!store.isStale)
      #expect(store.nextPageId == 2)
    }
    let _: ListRequest.Default = shelf.request.defaultValue([])
  }

  @Test
  func `A client has one store for a request, with the pages that it began with`() async throws {
    let shelf = Shelf(.value("x"))
    let client = OperationClient()
    let store = client.store(for: shelf.request, initialValue: List("a"))
    #expect(client.store(for: shelf.request) === store)
    #expect(client.stores(matching: ["list"], of: ListState.self).count == 1)
    let key = OperationPathKey<ListState>(path: shelf.request.path)
    #expect(client.store(with: key) === store)
  }

  @Test
  func `A client prefetches and ensures pages`() async throws {
    let shelf = Shelf(.value("x"))
    let client = OperationClient()
    let request = shelf.request.staleWhenNoValue()
    await client.prefetch(for: request)
    #expect(client.store(for: request).text == "0x")
    await client.prefetch(for: request)
    #expect(try await client.ensureValue(for: request) == List("x"))
    #expect(shelf.script.runCount == 1)
    client.store(for: request).currentValue = []
    #expect(try await client.ensureValue(for: request) == List("x"))
    #expect(shelf.script.runCount == 2)
  }

  @Test
  func `An invalidated store refetches all pages for its subscribers`() async throws {
    let shelf = Shelf(.value("x"))
    let client = OperationClient()
    let store = client.store(for: shelf.request, initialValue: List("a", "b"))
    let subscription = store.subscribe(with: ListRecorder().handler)
    defer { subscription.cancel() }
    await client.invalidate(matching: shelf.request.path).settled()
    #expect(store.text == "0x 1x")
  }

  @Test
  func `A third party's modifier keeps a request paginated`() async throws {
    struct Passing<Operation: OperationRequest>: OperationModifier {
      func run(
        isolation: isolated (any Actor)?,
        in context: OperationContext,
        using operation: Operation,
        with continuation: OperationContinuation<Operation.Value, Operation.Failure>
      ) async throws(Operation.Failure) -> Operation.Value {
        try await operation.run(isolation: isolation, in: context, with: continuation)
      }
    }
    let shelf = Shelf(.value("x"))
    let request: some PaginatedRequest<Int, String, any Error> = shelf.request
      .modifier(Passing()).stale(after: .seconds(1)).modifier(Passing())
    let store = OperationStore.detached(query: request)
    try await store.fetchNextPage()
    #expect(try await store.fetchPreviousPage()?.id == -1)
    #expect(request.initialPageId == 0)
  }

  @Test
  func `A run of another list in a page's context is a run of its own`() async throws {
    struct Nesting: PaginatedRequest {
      let inner: ListStore
      let initialPageId = 0
      var path: OperationPath { ["nesting"] }

      func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
        page.id + 1
      }

      func fetchPage(
        isolation: isolated (any Actor)?,
        using paging: Paging<Int, String>,
        in context: OperationContext,
        with continuation: OperationContinuation<String, any Error>
      ) async throws -> String {
        let value = try await self.inner.run(using: context)
        return value.pages.text
      }
    }
    let shelf = Shelf(.value("x"))
    let inner = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let outer = ListStore.detached(query: Nesting(inner: inner), initialValue: List("o"))
    #expect(try await outer.fetchNextPage()?.value == "0x 1x")
    #expect(inner.text == "0x 1x")
    #expect(outer.text == "0o 10x 1x")
  }

  @Test
  func `The yields of a cancelled load go, and pages of other loads stay`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let run = try await shelf.script.next()
    run.yield("draft")
    let previous = start { try await store.fetchPreviousPage() }
    try await shelf.script.next().succeed("p")
    _ = try await previous.value
    #expect(store.text == "-1p 0a 1draft")
    next.cancel()
    _ = await next.result
    #expect(store.text == "-1p 0a")
    #expect(store.valueUpdateCount == 1)
  }

  @Test
  func `Pages can be shown otherwise for a while`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = $0.map { Page(id: $0.id, value: "\($0.value)!") } }
    #expect(store.text == "0a!")
    try await store.fetchNextPage()
    #expect(store.text == "0a! 1x!")
    store.removeLayer(layer)
    #expect(store.text == "0a 1x")
  }

  @Test
  func `The yields of a cancelled load go, and all pages that came meanwhile stay`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    try await shelf.script.next().yield("draft")
    for _ in 0..<2 {
      let previous = start { try await store.fetchPreviousPage() }
      try await shelf.script.next().succeed("p")
      _ = try await previous.value
    }
    #expect(store.text == "-2p -1p 0a 1draft")
    next.cancel()
    _ = await next.result
    #expect(store.text == "-2p -1p 0a")
  }

  @Test
  func `One more page does not make an invalidated list fresh`() async throws {
    let shelf = Shelf(.value("x"))
    let client = OperationClient()
    let store = client.store(for: shelf.request.staleWhenNoValue(), initialValue: List("a"))
    await client.invalidate().settled()
    #expect(store.isStale)
    try await store.fetchNextPage()
    #expect(store.isStale)
    try await store.refetchAllPages()
    #expect(!store.isStale)
  }
}

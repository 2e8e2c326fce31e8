import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Staleness, defaults, clients, modifiers and optimistic values of paginated states.
@Suite(.bounded, .warningsAreIssues)
struct PaginatedStateTests {
  @Test
  func `A state prints its status, its pages and its error in one line`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request)
    #expect("\(store.state)".hasPrefix("PaginatedState(idle, "))
    try await store.fetchNextPage()
    #expect("\(store.state)".hasPrefix("PaginatedState(success, value "))
    #expect(!"\(store.state)".contains("Storage"))
    var text = ""
    dump(store.state, to: &text)
    #expect(text.contains("valueUpdateCount: 1"))
  }

  @Test
  func `A state with staleWhenNoValue is stale while it has no pages`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request.staleWhenNoValue())
    #expect(store.isStale)
    try await store.fetchNextPage()
    #expect(!store.isStale)
    store.currentValue = []
    #expect(store.isStale)
  }

  @Test
  func `Default pages are shown while there are none, and no page is loaded next to them`() async throws {
    let server = ListServer(.value("x"))
    let request = server.request.defaultValue(List(from: 40, "placeholder")).staleWhenNoValue()
    let client = OperationClient()
    for store in [OperationStore.detached(query: request), client.store(for: request)] {
      expect(store.currentValue.text, equals: "40placeholder")
      #expect(store.isStale)
      expect(store.nextPageId, equals: 0)
      try await expect(store.fetchNextPage()?.id, equals: 0)
      try await expect(store.fetchNextPage()?.id, equals: 1)
      expect(store.currentValue.text, equals: "0x 1x")
      #expect(!store.isStale)
      expect(store.nextPageId, equals: 2)
    }
    let _: ListRequest.Default = server.request.defaultValue([])
  }

  @Test
  func `A client has one store for a request, with its initial pages`() async throws {
    let server = ListServer(.value("x"))
    let client = OperationClient()
    let store = client.store(for: server.request, initialValue: List("a"))
    #expect(client.store(for: server.request) === store)
    expect(client.stores(matching: ["list"], of: ListState.self).count, equals: 1)
    let key = OperationPathKey<ListState>(path: server.request.path)
    #expect(client.store(with: key) === store)
  }

  @Test
  func `A client prefetches and ensures pages`() async throws {
    let server = ListServer(.value("x"))
    let client = OperationClient()
    let request = server.request.staleWhenNoValue()
    await client.prefetch(for: request)
    expect(client.store(for: request).text, equals: "0x")
    await client.prefetch(for: request)
    try await expect(client.ensureValue(for: request), equals: List("x"))
    expect(server.script.runCount, equals: 1)
    client.store(for: request).currentValue = []
    try await expect(client.ensureValue(for: request), equals: List("x"))
    expect(server.script.runCount, equals: 2)
  }

  @Test
  func `An invalidated store refetches all pages for its subscribers`() async throws {
    let server = ListServer(.value("x"))
    let client = OperationClient()
    let store = client.store(for: server.request, initialValue: List("a", "b"))
    let subscription = store.subscribe(with: ListRecorder().handler)
    defer { subscription.cancel() }
    await client.invalidate(matching: server.request.path).settled()
    expect(store.text, equals: "0x 1x")
  }

  @Test
  func `A third party's modifier keeps a request paginated`() async throws {
    let server = ListServer(.value("x"))
    let request: some PaginatedRequest<Int, String, any Error> = server.request
      .modifier(PassThrough()).stale(after: .seconds(1)).modifier(PassThrough())
    let store = OperationStore.detached(query: request)
    try await store.fetchNextPage()
    try await expect(store.fetchPreviousPage()?.id, equals: -1)
    expect(request.initialPageId, equals: 0)
  }

  @Test
  func `A run of another list with the context of a page is separate`() async throws {
    struct Nested: PaginatedRequest {
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
    let server = ListServer(.value("x"))
    let inner = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let outer = ListStore.detached(query: Nested(inner: inner), initialValue: List("o"))
    try await expect(outer.fetchNextPage()?.value, equals: "0x 1x")
    expect(inner.text, equals: "0x 1x")
    expect(outer.text, equals: "0o 10x 1x")
  }

  @Test
  func `The yields of a cancelled load are removed, and pages of other loads stay`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    run.yield("draft")
    let previous = start { try await store.fetchPreviousPage() }
    try await server.script.next().succeed("p")
    _ = try await previous.value
    expect(store.text, equals: "-1p 0a 1draft")
    next.cancel()
    _ = await next.result
    expect(store.text, equals: "-1p 0a")
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `A layer changes the pages that are shown until it is removed`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = $0.map { Page(id: $0.id, value: "\($0.value)!") } }
    expect(store.text, equals: "0a!")
    try await store.fetchNextPage()
    expect(store.text, equals: "0a! 1x!")
    store.removeLayer(layer)
    expect(store.text, equals: "0a 1x")
  }

  @Test
  func `The yields of a cancelled load are removed, and all pages that were added meanwhile stay`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let next = start { try await store.fetchNextPage() }
    try await server.script.next().yield("draft")
    for _ in 0..<2 {
      let previous = start { try await store.fetchPreviousPage() }
      try await server.script.next().succeed("p")
      _ = try await previous.value
    }
    expect(store.text, equals: "-2p -1p 0a 1draft")
    next.cancel()
    _ = await next.result
    expect(store.text, equals: "-2p -1p 0a")
  }

  @Test
  func `Loading one more page does not make an invalidated list fresh`() async throws {
    let server = ListServer(.value("x"))
    let client = OperationClient()
    let store = client.store(for: server.request.staleWhenNoValue(), initialValue: List("a"))
    await client.invalidate().settled()
    #expect(store.isStale)
    try await store.fetchNextPage()
    #expect(store.isStale)
    try await store.refetchAllPages()
    #expect(!store.isStale)
  }
}

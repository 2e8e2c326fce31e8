import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// The identifiers of the next and the previous page, which are computed from the present pages.
@Suite(.bounded, .warningsAreIssues)
struct PageIdentifierTests {
  @Test
  func `Without pages the initial page is the next and the previous page`() {
    let store = ListStore.detached(query: ListRequest(server: ListServer(), initialPageId: 5))
    expect(store.nextPageId, equals: 5)
    expect(store.previousPageId, equals: 5)
    #expect(store.hasNextPage)
    #expect(store.hasPreviousPage)
  }

  @Test
  func `Initial pages have neighbours before any run`() async throws {
    let server = ListServer(.value("x"))
    server.bounds = 0...10
    let store = ListStore.detached(query: server.request, initialValue: List(from: 3, "a", "b"))
    expect(store.nextPageId, equals: 5)
    expect(store.previousPageId, equals: 2)
    expect(server.script.runCount, equals: 0)
    try await expect(store.fetchNextPage()?.id, equals: 5)
    try await expect(store.fetchPreviousPage()?.id, equals: 2)
  }

  @Test
  func `Editing the pages changes their neighbours at once`() async throws {
    let server = ListServer(.value("x"))
    server.bounds = 0...10
    let store = ListStore.detached(query: server.request, initialValue: List(from: 3, "a", "b", "c"))
    store.currentValue.remove(id: 5)
    expect(store.nextPageId, equals: 5)
    store.currentValue.remove(id: 3)
    expect(store.previousPageId, equals: 3)
    store.currentValue = [Page(id: 9, value: "z")]
    expect(store.nextPageId, equals: 10)
    expect(store.previousPageId, equals: 8)
    store.currentValue.append(Page(id: 10, value: "y"))
    expect(store.nextPageId, equals: nil)
    store.currentValue = []
    expect(store.nextPageId, equals: 0)
    expect(store.previousPageId, equals: 0)
    try await expect(store.fetchNextPage()?.id, equals: 0)
    store.resetState()
    expect(store.nextPageId, equals: 6)
    expect(store.previousPageId, equals: 2)
  }

  @Test
  func `A copy of a state keeps its next page`() {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let before = store.state
    store.currentValue.append(Page(id: 1, value: "b"))
    expect(before.nextPageId, equals: 1)
    expect(store.state.nextPageId, equals: 2)
  }

  @Test
  func `The request receives the context of its store`() async throws {
    let server = ListServer(.value("x"))
    let request = server.request.context { $0.stride = 3 }
    let client = OperationClient()
    let stores = [
      ListStore.detached(query: request, initialValue: List("a")),
      client.store(for: request, initialValue: List("a")),
      client.withStores(of: ListState.self) { _, createStore in
        createStore(for: request, initialValue: List("a"))
      },
      ListStore.detached(query: server.request, initialValue: List("a")),
    ]
    stores[3].context.stride = 3
    for store in stores {
      expect(store.nextPageId, equals: 3)
      store.context.stride = 4
      expect(store.nextPageId, equals: 4)
      try await expect(store.fetchNextPage()?.id, equals: 4)
    }
  }

  @Test
  func `A state that was created without its store has the store's context after the first run`() async throws {
    let server = ListServer(.value("x"))
    let request = server.request.context { $0.stride = 3 }
    let state = PaginatedState(for: request, initialValue: List("a"))
    expect(state.nextPageId, equals: 1)
    let store = ListStore.detached(operation: request, initialState: state)
    try await expect(store.fetchNextPage()?.id, equals: 3)
    expect(store.nextPageId, equals: 6)
  }

  @Test
  func `The request receives the page and the kind of request`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    try await store.refetchAllPages()
    expect(server.neighbourRequests, equals: [Paging(pageId: 0, pages: List("x"), request: .allPages)])
    _ = store.hasNextPage
    expect(server.neighbourRequests.last, equals: Paging(pageId: 1, pages: List("x", "x"), request: .nextPage))
  }

  @Test
  func `The request may read its store when it computes an identifier`() async throws {
    struct StoreReading: PaginatedRequest {
      let initialPageId = 0
      var path: OperationPath { ["curious"] }

      func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
        let store = context.operationClient?.store(with: ["curious"])?.base as? ListStore
        store?.withExclusiveAccess { $0.context.stride = 2 }
        return page.id + (store?.currentValue.count ?? 0)
      }

      func fetchPage(
        isolation: isolated (any Actor)?,
        using paging: Paging<Int, String>,
        in context: OperationContext,
        with continuation: OperationContinuation<String, any Error>
      ) async throws -> String { "x" }
    }
    let client = OperationClient()
    let store = client.store(for: StoreReading(), initialValue: List("a", "b"))
    expect(store.nextPageId, equals: 3)
    try await expect(store.fetchNextPage()?.id, equals: 3)
    try await expect(store.fetchNextPage()?.id, equals: 6)
    try await store.refetchAllPages()
  }
}

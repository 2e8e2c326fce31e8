import OperationCore
import OperationPagination
import OperationTesting
import Testing

/// The identifiers of what comes next are those of the pages that are there.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct PageIdentifierTests {
  @Test
  func `Without pages the initial page comes next, either way`() {
    let store = ListStore.detached(query: ListRequest(shelf: Shelf(), initialPageId: 5))
    #expect(store.nextPageId == 5)
    #expect(store.previousPageId == 5)
    #expect(store.hasNextPage)
    #expect(store.hasPreviousPage)
  }

  @Test
  func `Initial pages have neighbours at once`() async throws {
    let shelf = Shelf(.value("x"))
    shelf.bounds = 0...10
    let store = ListStore.detached(query: shelf.request, initialValue: List(from: 3, "a", "b"))
    #expect(store.nextPageId == 5)
    #expect(store.previousPageId == 2)
    #expect(shelf.script.runCount == 0)
    #expect(try await store.fetchNextPage()?.id == 5)
    #expect(try await store.fetchPreviousPage()?.id == 2)
  }

  @Test
  func `Edited pages have other neighbours at once`() async throws {
    let shelf = Shelf(.value("x"))
    shelf.bounds = 0...10
    let store = ListStore.detached(query: shelf.request, initialValue: List(from: 3, "a", "b", "c"))
    store.currentValue.remove(id: 5)
    #expect(store.nextPageId == 5)
    store.currentValue.remove(id: 3)
    #expect(store.previousPageId == 3)
    store.currentValue = [Page(id: 9, value: "z")]
    #expect(store.nextPageId == 10)
    #expect(store.previousPageId == 8)
    store.currentValue.append(Page(id: 10, value: "y"))
    #expect(store.nextPageId == nil)
    store.currentValue = []
    #expect(store.nextPageId == 0)
    #expect(store.previousPageId == 0)
    #expect(try await store.fetchNextPage()?.id == 0)
    store.resetState()
    #expect(store.nextPageId == 6)
    #expect(store.previousPageId == 2)
  }

  @Test
  func `A state that was returned keeps the next page of its time`() {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let before = store.state
    store.currentValue.append(Page(id: 1, value: "b"))
    #expect(before.nextPageId == 1)
    #expect(store.state.nextPageId == 2)
  }

  @Test
  func `The request is asked in the context of its store`() async throws {
    let shelf = Shelf(.value("x"))
    let request = shelf.request.context { $0.stride = 3 }
    let client = OperationClient()
    let stores = [
      ListStore.detached(query: request, initialValue: List("a")),
      client.store(for: request, initialValue: List("a")),
      client.withStores(of: ListState.self) { _, createStore in
        createStore(for: request, initialValue: List("a"))
      },
      ListStore.detached(query: shelf.request, initialValue: List("a")),
    ]
    stores[3].context.stride = 3
    for store in stores {
      #expect(store.nextPageId == 3)
      store.context.stride = 4
      #expect(store.nextPageId == 4)
      #expect(try await store.fetchNextPage()?.id == 4)
    }
  }

  @Test
  func `A state that was made elsewhere has the context of its store after the first run`() async throws {
    let shelf = Shelf(.value("x"))
    let request = shelf.request.context { $0.stride = 3 }
    let state = PaginatedState(for: request, initialValue: List("a"))
    #expect(state.nextPageId == 1)
    let store = ListStore.detached(operation: request, initialState: state)
    #expect(try await store.fetchNextPage()?.id == 3)
    #expect(store.nextPageId == 6)
  }

  @Test
  func `The request gets the page that it is asked about, and the purpose`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    try await store.refetchAllPages()
    #expect(shelf.questions == [Paging(pageId: 0, pages: List("x"), request: .allPages)])
    _ = store.hasNextPage
    #expect(shelf.questions.last == Paging(pageId: 1, pages: List("x", "x"), request: .nextPage))
  }

  @Test
  func `The request may use its store when it is asked`() async throws {
    struct Curious: PaginatedRequest {
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
    let store = client.store(for: Curious(), initialValue: List("a", "b"))
    #expect(store.nextPageId == 3)
    #expect(try await store.fetchNextPage()?.id == 3)
    #expect(try await store.fetchNextPage()?.id == 6)
    try await store.refetchAllPages()
  }
}

import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Testing

/// Pages that are only laid over the state: what is loaded is decided without them.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct LayeredPagesTests {
  /// A list `a` of which a layer shows more: a page before it and one after it.
  private func store(_ shelf: Shelf, initialValue: List = List("a")) -> ListStore {
    let store = ListStore.detached(query: shelf.request, initialValue: initialValue)
    store.addLayer(StateLayerIdentifier()) { pages in
      pages.prepend(Page(id: -50, value: "before"))
      pages.append(Page(id: 50, value: "after"))
    }
    return store
  }

  @Test
  func `A refetch does not ask for a page that is only laid over the list`() async throws {
    let shelf = Shelf(.value("x"))
    let store = self.store(shelf)
    try await store.refetchAllPages()
    #expect(store.text == "-50before 0x 50after")
    try await store.run()
    #expect(shelf.fetchedIds == [0, 0])
  }

  @Test
  func `The next and the previous page are those of the list beneath`() async throws {
    let shelf = Shelf(.value("x"))
    let store = self.store(shelf)
    #expect(try await store.fetchNextPage()?.id == 1)
    #expect(try await store.fetchPreviousPage()?.id == -1)
    #expect(store.text == "-50before -1x 0a 1x 50after")
    #expect(shelf.pagings.map { Array($0.pages.ids) } == [[0], [0, 1]])
  }

  @Test
  func `The initial page is loaded where all pages are laid over the list`() async throws {
    let shelf = Shelf(.value("x"))
    let store = self.store(shelf, initialValue: [])
    #expect(try await store.refetchAllPages().isEmpty)
    #expect(shelf.script.runCount == 0)
    #expect(try await store.run().request == .initialPage)
    #expect(store.text == "-50before 0x 50after")
  }

  @Test
  func `Whether there is a page to load is decided by the list beneath`() async throws {
    let shelf = Shelf(.value("x"))
    shelf.bounds = 0...1
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 1, value: "draft")) }
    #expect(try await store.fetchNextPage()?.id == 1)
    #expect(store.text == "0a 1draft")
    #expect(try await store.fetchPreviousPage() == nil)
    #expect(shelf.fetchedIds == [1])
  }

  @Test
  func `The identifiers that are shown are those of the pages that would be loaded`() async throws {
    let shelf = Shelf(.value("x"))
    shelf.bounds = 0...2
    let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0.append(Page(id: 2, value: "draft")) }
    #expect(store.text == "0a 2draft")
    #expect(store.nextPageId == 1)
    #expect(!store.hasPreviousPage)
    try await store.fetchNextPage()
    #expect(store.nextPageId == 2)
    LayerableStore(store)?.commitLayer(layer)
    #expect(store.text == "0a 1x 2draft")
    #expect(!store.hasNextPage)
  }

  @Test
  func `Callers of one page share a run, whatever is laid over the list`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let run = try await shelf.script.next()
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 50, value: "after")) }
    let second = start { try await store.fetchNextPage() }
    run.succeed("b")
    #expect(try await first.value?.id == 1)
    #expect(try await second.value?.id == 1)
    #expect(shelf.script.runCount == 1)
  }

  @Test
  func `Pages beneath a default value and a layer are loaded from themselves`() async throws {
    let shelf = Shelf(.value("x"))
    let store = OperationStore.detached(query: shelf.request.defaultValue(List(from: 40, "placeholder")))
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 50, value: "after")) }
    #expect(try await store.fetchNextPage()?.id == 0)
    #expect(try await store.fetchNextPage()?.id == 1)
    try await store.refetchAllPages()
    #expect(shelf.fetchedIds == [0, 1, 0, 1])
  }

  @Test
  func `A list that has only laid over pages is stale, and ensuring its value loads it`() async throws {
    let shelf = Shelf(.value("x"))
    let client = OperationClient()
    let request = shelf.request.staleWhenNoValue()
    let store = client.store(for: request)
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0.append(Page(id: 50, value: "draft")) }
    #expect(store.isStale)
    #expect(try await client.ensureValue(for: request).text == "0x 50draft")
    #expect(!store.isStale)
  }
}

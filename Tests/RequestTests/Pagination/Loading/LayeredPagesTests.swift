import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Pages that only an optimistic update shows: they do not decide which page is loaded.
@Suite(.bounded, .warningsAreIssues)
struct LayeredPagesTests {
  /// A list `a` with a layer that shows a page before it and one after it.
  private func store(_ server: ListServer, initialValue: List = List("a")) -> ListStore {
    let store = ListStore.detached(query: server.request, initialValue: initialValue)
    store.addLayer(StateLayerIdentifier()) { pages in
      pages.prepend(Page(id: -50, value: "before"))
      pages.append(Page(id: 50, value: "after"))
    }
    return store
  }

  @Test
  func `A refetch does not fetch a page that only a layer shows`() async throws {
    let server = ListServer(.value("x"))
    let store = self.store(server)
    try await store.refetchAllPages()
    expect(store.text, equals: "-50before 0x 50after")
    try await store.run()
    expect(server.fetchedIds, equals: [0, 0])
  }

  @Test
  func `The next and the previous page are those of the list below the layer`() async throws {
    let server = ListServer(.value("x"))
    let store = self.store(server)
    try await expect(store.fetchNextPage()?.id, equals: 1)
    try await expect(store.fetchPreviousPage()?.id, equals: -1)
    expect(store.text, equals: "-50before -1x 0a 1x 50after")
    expect(server.pagings.map { Array($0.pages.ids) }, equals: [[0], [0, 1]])
  }

  @Test
  func `The initial page is loaded when only a layer shows pages`() async throws {
    let server = ListServer(.value("x"))
    let store = self.store(server, initialValue: [])
    #expect(try await store.refetchAllPages().isEmpty)
    expect(server.script.runCount, equals: 0)
    try await expect(store.run().request, equals: .initialPage)
    expect(store.text, equals: "-50before 0x 50after")
  }

  @Test
  func `The list below the layer decides whether there is a page to load`() async throws {
    let server = ListServer(.value("x"))
    server.bounds = 0...1
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 1, value: "draft")) }
    try await expect(store.fetchNextPage()?.id, equals: 1)
    expect(store.text, equals: "0a 1draft")
    try await expect(store.fetchPreviousPage(), equals: nil)
    expect(server.fetchedIds, equals: [1])
  }

  @Test
  func `The identifiers in the state are those of the pages that would be loaded`() async throws {
    let server = ListServer(.value("x"))
    server.bounds = 0...2
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0.append(Page(id: 2, value: "draft")) }
    expect(store.text, equals: "0a 2draft")
    expect(store.nextPageId, equals: 1)
    #expect(!store.hasPreviousPage)
    try await store.fetchNextPage()
    expect(store.nextPageId, equals: 2)
    OpaqueOperationStore(erasing: store).commitLayer(layer)
    expect(store.text, equals: "0a 1x 2draft")
    #expect(!store.hasNextPage)
  }

  @Test
  func `Callers of one page share a run, whatever a layer shows`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
    let first = start { try await store.fetchNextPage() }
    let run = try await server.script.next()
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 50, value: "after")) }
    let second = start { try await store.fetchNextPage() }
    run.succeed("b")
    try await expect(first.value?.id, equals: 1)
    try await expect(second.value?.id, equals: 1)
    expect(server.script.runCount, equals: 1)
  }

  @Test
  func `The next page follows the pages below a default value and a layer`() async throws {
    let server = ListServer(.value("x"))
    let store = OperationStore.detached(query: server.request.defaultValue(List(from: 40, "placeholder")))
    store.addLayer(StateLayerIdentifier()) { $0.append(Page(id: 50, value: "after")) }
    try await expect(store.fetchNextPage()?.id, equals: 0)
    try await expect(store.fetchNextPage()?.id, equals: 1)
    try await store.refetchAllPages()
    expect(server.fetchedIds, equals: [0, 1, 0, 1])
  }

  @Test
  func `A list whose pages only a layer shows is stale, and ensureValue loads it`() async throws {
    let server = ListServer(.value("x"))
    let client = OperationClient()
    let request = server.request.staleWhenNoValue()
    let store = client.store(for: request)
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0.append(Page(id: 50, value: "draft")) }
    #expect(store.isStale)
    try await expect(client.ensureValue(for: request).text, equals: "0x 50draft")
    #expect(!store.isStale)
  }
}

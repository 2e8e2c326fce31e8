import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// A list is as old as its oldest page.
@Suite(.bounded, .warningsAreIssues)
struct PageAgeTests {
  private let clock = ManualClock()
  private let server = ListServer(.value("x"))

  private func store(initialValue: List = [], maximumPages: Int = 100) -> ListStore {
    let request = self.server.request.maximumPages(maximumPages).stale(after: .seconds(60)).clock(self.clock)
    return ListStore.detached(query: request, initialValue: initialValue)
  }

  @Test
  func `Loading one more page does not make a list fresh, and a refetch does`() async throws {
    let store = self.store()
    #expect(store.isStale)
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(40))
    try await store.fetchNextPage()
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(20))
    #expect(store.isStale)
    try await store.fetchNextPage()
    try await store.fetchPreviousPage()
    #expect(store.isStale)
    try await store.refetchAllPages()
    #expect(!store.isStale)
    expect(store.oldestPartUpdatedAt, equals: self.clock.now())
  }

  @Test
  func `An initial list is stale until all of its pages were loaded`() async throws {
    let store = self.store(initialValue: List("a"))
    try await store.fetchNextPage()
    #expect(store.isStale)
    expect(store.oldestPartUpdatedAt, equals: nil)
    try await store.refetchAllPages()
    #expect(!store.isStale)
    store.resetState()
    #expect(store.isStale)
  }

  @Test
  func `Only pages that were written have an age in an initial list`() {
    let store = self.store(initialValue: List("a", "b"))
    store.currentValue.append(Page(id: 7, value: "c"))
    #expect(store.isStale)
    store.currentValue[id: 0]?.value = "edited"
    expect(store.oldestPartUpdatedAt, equals: nil)
    store.currentValue[id: 1]?.value = "edited"
    expect(store.oldestPartUpdatedAt, equals: self.clock.now())
  }

  @Test
  func `Pages that were made before the store are as old as the change that sets them`() {
    let pages = List("a", "b")
    let store = self.store(initialValue: List("x"))
    store.currentValue = pages
    expect(store.oldestPartUpdatedAt, equals: self.clock.now())
  }

  @Test
  func `The age of a dropped page no longer counts`() async throws {
    let store = self.store(maximumPages: 2)
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(59))
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    try await store.fetchNextPage()
    #expect(!store.isStale)
  }

  @Test
  func `Setting a page changes the age of that page alone`() async throws {
    let store = self.store()
    store.currentValue = List("a", "b")
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(40))
    store.currentValue[id: 0]?.value = "edited"
    self.clock.advance(by: .seconds(20))
    #expect(store.isStale)
    store.currentValue[id: 1]?.value = "edited"
    #expect(!store.isStale)
    store.currentValue.append(Page(id: 2, value: "new"))
    self.clock.advance(by: .seconds(40))
    #expect(store.isStale)
    store.currentValue = []
    #expect(!store.isStale)
  }

  @Test
  func `A restored list keeps its age`() async throws {
    let store = self.store()
    try await store.fetchNextPage()
    let pages = store.currentValue
    self.clock.advance(by: .seconds(60))
    store.currentValue = List("b")
    #expect(!store.isStale)
    store.currentValue = pages
    #expect(store.isStale)
  }

  @Test
  func `A refetch that is cancelled after a yield does not change the age of the list`() async throws {
    let store = self.store()
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(60))
    self.server.script.enqueue(.suspend)
    let refetch = start { try await store.refetchAllPages() }
    try await self.server.script.next().yield("draft")
    // What was yielded is never fresh.
    #expect(store.isStale)
    expect(store.valueStamp.kind, equals: .partial)
    refetch.cancel()
    _ = await refetch.result
    expect(store.valueStamp.kind, equals: .final)
    #expect(store.isStale)
  }

  @Test
  func `Default pages have no age, and the pages below them do`() async throws {
    let request = self.server.request.defaultValue(List(from: 40, "placeholder")).stale(after: .seconds(60))
    let store = OperationStore.detached(query: request.clock(self.clock))
    #expect(store.isStale)
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(60))
    try await store.fetchNextPage()
    #expect(store.isStale)
  }

  @Test
  func `A page from a successful optimistic update does not make the others fresh`() async throws {
    let store = self.store()
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(59))
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0.append(Page(id: 50, value: "new")) }
    OpaqueOperationStore(erasing: store).commitLayer(layer)
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }
}

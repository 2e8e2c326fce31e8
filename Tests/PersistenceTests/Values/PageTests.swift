import FoundationEssentials
import OperationCore
import OperationPagination
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// A list whose pages are numbered from -3 to 3.
private struct ListRequest: PaginatedRequest {
  let initialPageId = 0
  var path: OperationPath { ["list"] }

  func pageId(after page: Page<Int, String>, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id < 3 ? page.id + 1 : nil
  }

  func pageId(before page: Page<Int, String>, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id > -3 ? page.id - 1 : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    "page \(paging.pageId)"
  }
}

@Suite(.bounded, .warningsAreIssues) struct PageTests {
  private let request = ListRequest().stale(after: .seconds(60)).persisted(as: "list")

  @Test func `Pages keep their order, neighbours and dates`() async throws {
    let program = Program()
    let store = program.client.store(for: self.request)
    try await store.fetchNextPage()
    program.clock.advance(by: .seconds(20))
    try await store.fetchPreviousPage()
    program.clock.advance(by: .seconds(20))
    try await store.fetchNextPage()
    await program.client.persistence.flush()

    let restored = program.restarted().client.store(for: self.request)
    expect(restored.currentValue, equals: store.currentValue)
    expect(restored.currentValue.map(\.id), equals: [-1, 0, 1])
    expect(restored.nextPageId, equals: 2)
    expect(restored.previousPageId, equals: -2)
    expect(restored.valueUpdateCount, equals: 3)
    expect(restored.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 40))
    expect(restored.oldestPartUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 0))
    #expect(!restored.isStale)
    program.clock.advance(by: .seconds(20))
    #expect(restored.isStale)
    try await restored.fetchNextPage()
    expect(restored.currentValue.map(\.id), equals: [-1, 0, 1, 2])
    try await restored.refetchAllPages()
    #expect(!restored.isStale)
  }

  @Test func `ensureValue takes fresh pages that are being read, without a run`() async throws {
    let base = InMemoryStorage()
    let first = Program(base)
    try await first.client.store(for: self.request).fetchNextPage()
    await first.client.persistence.flush()

    let storage = TestStorage(base, reads: false)
    let client = Program(storage, clock: first.clock).client
    let pages = Task.immediate { try await client.ensureValue(for: self.request) }
    storage.reading.open()
    try await expect(pages.value.map(\.id), equals: [0])
    let store = client.store(for: self.request)
    expect(store.valueUpdateCount, equals: 1)
    first.clock.advance(by: .seconds(60))
    try await expect(client.ensureValue(for: self.request).map(\.id), equals: [0])
    expect(store.valueUpdateCount, equals: 2)
  }

  @Test func `Pages that were emptied are stored as such`() async throws {
    let program = Program()
    let store = program.client.store(for: self.request)
    try await store.fetchNextPage()
    store.currentValue = []
    await program.client.persistence.flush()
    let restored = program.restarted().client.store(for: self.request, initialValue: [Page(id: 2, value: "initial")])
    #expect(restored.currentValue.isEmpty)
    expect(restored.valueUpdateCount, equals: 2)
  }

  @Test func `The age of initial pages stays unknown`() async throws {
    let program = Program()
    let store = program.client.store(for: self.request, initialValue: [Page(id: 0, value: "initial")])
    try await store.fetchNextPage()
    expect(store.oldestPartUpdatedAt, equals: nil)
    await program.client.persistence.flush()
    let restored = program.restarted().client.store(for: self.request)
    expect(restored.currentValue.map(\.id), equals: [0, 1])
    expect(restored.oldestPartUpdatedAt, equals: nil)
  }
}

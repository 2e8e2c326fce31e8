import OperationCore
import OperationFreshness
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Freshness of lists, whose pages come from a server one by one.
@Suite(.bounded, .warningsAreIssues) struct PageFreshnessTests {
  private let clock = ManualClock()
  private let server = Server()

  private struct List: PaginatedRequest {
    let server: Server
    let initialPageId = 0

    var path: OperationPath { ["list"] }

    func pageId(after page: Page<Int, Int>, using paging: Paging<Int, Int>, in context: OperationContext) -> Int? {
      page.id + 1
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, Int>,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try self.server.answer(context)
    }
  }

  private var honoring: OperationStore<PaginatedState<Int, Int, any Error>> {
    .detached(query: List(server: self.server).honoringFreshness().manualTime(self.clock))
  }

  @Test func `A list is fresh until its first page is stale`() async throws {
    let store = self.honoring
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "max-age=300"))
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(40))
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(19))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `A list is fresh until its last page is stale, if that is earlier`() async throws {
    let store = self.honoring
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "max-age=10"))
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(40))
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(9))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `One more page makes a stale list no fresher, and fetching all pages does`() async throws {
    let store = self.honoring
    for value in 1...4 { self.server.enqueue(value, ("Cache-Control", "max-age=60")) }
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(60))
    try await store.fetchNextPage()
    #expect(store.isStale)
    try await store.refetchAllPages()
    #expect(!store.isStale && store.currentValue.map(\.value) == [3, 4])
    self.clock.advance(by: .seconds(60))
    #expect(store.isStale)
  }

  @Test func `A page that fails leaves the freshness of the others`() async throws {
    let store = self.honoring
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.refuse(("Cache-Control", "max-age=5"))
    try await store.fetchNextPage()
    await #expect(throws: Refused.self) { try await store.fetchNextPage() }
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `A jitter shortens the freshness of the whole list`() async throws {
    let request = List(server: self.server)
      .stale(after: .seconds(100), jitter: 0.5, using: ChosenShares(1, 1, 1, 1).generator).manualTime(self.clock)
    let store = OperationStore.detached(query: request)
    self.server.enqueue(1)
    try await store.fetchNextPage()
    self.clock.advance(by: .seconds(49))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }
}

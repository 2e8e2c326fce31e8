import OperationCore
import OperationPagination
import TestFixtures
import Testing

/// Paginated operations from closures, and types with one function for a page.
@Suite(.bounded)
struct PaginatedOperationTests {
  @Test
  func `The closure receives the elements of the path, then the page`() async throws {
    let feed = PaginatedOperation(
      "feeds",
      40,
      initialPageId: 1,
      pageIdAfter: { page in page.id < 2 ? page.id + 1 : nil },
      body: { user, paging, _ in [user + paging.pageId] }
    )
    let store = OperationClient().store(for: feed)
    #expect(store.path == ["feeds", 40])
    #expect(try await store.fetchNextPage()?.value == [41])
    #expect(try await store.fetchNextPage()?.value == [42])
    #expect(try await store.fetchNextPage() == nil)

    let both = PaginatedOperation(
      "feeds",
      40,
      "b",
      initialPageId: 1,
      pageIdAfter: { _ in nil },
      body: { user, letter, paging, _ in ["\(letter)\(user - paging.pageId)"] }
    )
    #expect(try await OperationStore.detached(query: both).fetchNextPage()?.value == ["b39"])
  }

  @Test
  func `A closure without elements keeps its meaning, and its failure`() async throws {
    let feed = PaginatedOperation(
      "feeds",
      40,
      initialPageId: 1,
      pageIdAfter: { _ in nil },
      body: { paging, _, continuation throws(Refused) in
        continuation.yield([0])
        if paging.pageId > 0 { throw Refused(code: paging.pageId) }
        return [1]
      }
    )
    let store: OperationStore<PaginatedState<Int, [Int], Refused>> = .detached(query: feed)
    await #expect(throws: Refused(code: 1)) { try await store.fetchNextPage() }
  }

  @Test
  func `A type with fetchPage(using:in:) alone is a paginated request`() async throws {
    let store = OperationClient().store(for: Halves())
    #expect(try await store.fetchNextPage()?.value == "8")
    #expect(try await store.fetchNextPage()?.value == "4")
  }
}

private struct Halves: SimplePaginatedRequest, Hashable {
  let initialPageId = 8

  func pageId(after page: Page<Int, String>, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id / 2
  }

  func fetchPage(using paging: Paging<Int, String>, in context: OperationContext) async throws -> String {
    "\(paging.pageId)"
  }
}

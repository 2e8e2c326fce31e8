import OperationCore
import OperationPagination
import TestFixtures
import Testing

/// Types with one function for a page.
@Suite(.bounded)
struct SimplePaginatedRequestTests {
  @Test
  func `A type with fetchPage(using:in:) alone is a paginated request`() async throws {
    let store = OperationClient().store(for: Halves())
    try await expect(store.fetchNextPage()?.value, equals: "8")
    try await expect(store.fetchNextPage()?.value, equals: "4")
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

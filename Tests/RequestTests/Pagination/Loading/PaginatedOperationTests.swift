import OperationCore
import OperationPagination
import TestFixtures
import Testing

/// Paginated operations from closures.
@Suite(.bounded) struct PaginatedOperationTests {
  @Test func `The failure of its closure is its failure`() async {
    let refusing = PaginatedOperation(
      "feed",
      initialPageId: 1,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _ throws(Refused) -> String in
        if paging.pageId > 0 { throw Refused(code: paging.pageId) }
        return "first"
      }
    )
    let store: OperationStore<PaginatedState<Int, String, Refused>> = .detached(query: refusing)
    await #expect(throws: Refused(code: 1)) { try await store.fetchNextPage() }

    let yielding = PaginatedOperation(
      "feed",
      initialPageId: 2,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _, continuation throws(Refused) -> String in
        continuation.yield("partial")
        if paging.pageId > 0 { throw Refused(code: paging.pageId) }
        return "first"
      }
    )
    let other: OperationStore<PaginatedState<Int, String, Refused>> = .detached(query: yielding)
    await #expect(throws: Refused(code: 2)) { try await other.fetchNextPage() }
  }

  @Test func `A closure that throws nothing, or anything, makes an operation that may throw anything`() async throws {
    let quiet = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _ in "\(paging.pageId)" }
    )
    let store: OperationStore<PaginatedState<Int, String, any Error>> = .detached(query: quiet)
    try await expect(store.fetchNextPage()?.value, equals: "0")

    let yielding = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _, continuation -> String in
        continuation.yield("partial")
        return "\(paging.pageId)"
      }
    )
    let second: OperationStore<PaginatedState<Int, String, any Error>> = .detached(query: yielding)
    try await expect(second.fetchNextPage()?.value, equals: "0")

    let loud = PaginatedOperation(
      "feed",
      initialPageId: 3,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _ -> String in
        if paging.pageId > 0 { throw Refused(code: paging.pageId) }
        return "first"
      }
    )
    let third: OperationStore<PaginatedState<Int, String, any Error>> = .detached(query: loud)
    await #expect(throws: Refused(code: 3)) { try await third.fetchNextPage() }
  }
}

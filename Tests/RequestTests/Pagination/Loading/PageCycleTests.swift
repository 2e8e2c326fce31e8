import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Pages whose bodies load other pages of their own list.
@Suite(.bounded, .warningsAreIssues)
struct PageCycleTests {
  @Test(arguments: [true, false])
  func `A page that loads another kind of page of its own list fails, and the cycle is reported`(
    _ refetchesAll: Bool
  ) async throws {
    let list = Box<ListStore?>(nil)
    defer { list.value = nil }
    let request = NestedList { paging in
      guard paging.pageId == 2, paging.request == .nextPage, let store = list.value else { return "\(paging.pageId)" }
      if refetchesAll { return try await store.refetchAllPages().text }
      // The refetch of the pages that this caller names excludes the load as well.
      return try await store.run().pages.text
    }
    let store = ListStore.detached(query: request.deduplicated(), initialValue: List("a", "b"))
    list.value = store
    let recorder = WarningRecorder()
    let error = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") { try await store.fetchNextPage() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(error?.operationNames, equals: ["nested list", "nested list"])
    await store.settled()
    list.value = nil
    try await expect(store.fetchNextPage(), equals: Page(id: 2, value: "2"))
    try await expect(store.refetchAllPages().text, equals: "00 11 22")
  }

  @Test
  func `Without a failure that can be a cycle, the inner load comes first, and the cycle is reported`() async throws {
    let list = Box<OperationStore<PaginatedState<Int, String, Never>>?>(nil)
    defer { list.value = nil }
    let request = UnfailingList { paging in
      guard paging.pageId == 2, paging.request == .nextPage, let store = list.value else { return "\(paging.pageId)" }
      return await store.refetchAllPages().text
    }
    let store = OperationStore<PaginatedState<Int, String, Never>>.detached(
      query: request.deduplicated(),
      initialValue: List("a", "b")
    )
    list.value = store
    let recorder = WarningRecorder()
    let page = await recorder.recording {
      try? await withTimeLimit("the page") { await store.fetchNextPage() }
    }
    expect(page, equals: Page(id: 2, value: "00 11"))
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    await store.settled()
    expect(store.currentValue.text, equals: "00 11 200 11")
  }
}

/// A list whose pages come from a closure.
private struct NestedList: PaginatedRequest {
  let body: @Sendable (Paging<Int, String>) async throws -> String
  let initialPageId = 0

  init(_ body: @escaping @Sendable (Paging<Int, String>) async throws -> String) {
    self.body = body
  }

  var path: OperationPath { ["nested"] }
  var operationName: String { "nested list" }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id < 2 ? page.id + 1 : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await self.body(paging)
  }
}

/// A list that cannot fail.
private struct UnfailingList: PaginatedRequest {
  let body: @Sendable (Paging<Int, String>) async -> String
  let initialPageId = 0

  init(_ body: @escaping @Sendable (Paging<Int, String>) async -> String) {
    self.body = body
  }

  var path: OperationPath { ["unfailing"] }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id < 2 ? page.id + 1 : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, Never>
  ) async -> String {
    await self.body(paging)
  }
}

import OperationCore
import Testing

@testable import OperationPagination

/// Where pages are fetched, and what a run leaves where it is.
@Suite
struct PageIsolationTests {
  private actor Desk {}

  private struct AtDesk<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
    let desk: Desk

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      try await operation.run(isolation: self.desk, in: context, with: continuation)
    }
  }

  /// Its pages tell whether they were fetched on the actor.
  private struct Request: PaginatedRequest {
    let desk: Desk
    let initialPageId = 0

    var path: OperationPath { ["desk"] }

    func pageId(after page: Page<Int, Bool>, using paging: Paging<Int, Bool>, in context: OperationContext) -> Int? {
      page.id + 1
    }

    func pageId(before page: Page<Int, Bool>, using paging: Paging<Int, Bool>, in context: OperationContext) -> Int? {
      page.id - 1
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, Bool>,
      in context: OperationContext,
      with continuation: OperationContinuation<Bool, any Error>
    ) async throws -> Bool {
      isolation?.preconditionIsolated()
      return isolation === self.desk
    }
  }

  @Test
  func `Pages are fetched on the actor that the run is asked to be on`() async throws {
    let desk = Desk()
    let request = Request(desk: desk)
    let store = OperationStore.detached(query: request.modifier(AtDesk(desk: desk)))
    #expect(try await store.fetchNextPage()?.value == true)
    #expect(try await store.fetchNextPage()?.value == true)
    #expect(try await store.fetchPreviousPage()?.value == true)
    #expect(try await store.refetchAllPages().map { $0.value } == [true, true, true])
    let free = OperationStore.detached(query: request)
    #expect(try await free.fetchNextPage()?.value == false)
  }

  @Test
  func `A run without subscribers changes the state in place`() async throws {
    let store = OperationStore.detached(query: Request(desk: Desk()))
    try await store.fetchNextPage()
    let storage = ObjectIdentifier(store.state.storage)
    try await store.fetchNextPage()
    #expect(ObjectIdentifier(store.state.storage) == storage)
    try await store.fetchPreviousPage()
    #expect(ObjectIdentifier(store.state.storage) == storage)
    try await store.refetchAllPages()
    #expect(ObjectIdentifier(store.state.storage) == storage)
    #expect(store.currentValue.count == 3)
  }
}

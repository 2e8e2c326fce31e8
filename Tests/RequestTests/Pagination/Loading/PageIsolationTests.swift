import OperationCore
import TestFixtures
import Testing

@testable import OperationPagination

/// The actor on which pages are fetched, and the storage that runs change.
@Suite(.bounded)
struct PageIsolationTests {
  private actor PageActor {}

  private struct OnPageActor<Operation: OperationRequest & Sendable>: OperationModifier
  where Operation.Value: Sendable {
    let actor: PageActor

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      try await operation.run(isolation: self.actor, in: context, with: continuation)
    }
  }

  /// The value of a page is whether it was fetched on the actor.
  private struct Request: PaginatedRequest {
    let actor: PageActor
    let initialPageId = 0

    var path: OperationPath { ["actor"] }

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
      return isolation === self.actor
    }
  }

  @Test
  func `Pages are fetched on the actor of the run`() async throws {
    let actor = PageActor()
    let request = Request(actor: actor)
    let store = OperationStore.detached(query: request.modifier(OnPageActor(actor: actor)))
    try await expect(store.fetchNextPage()?.value, equals: true)
    try await expect(store.fetchNextPage()?.value, equals: true)
    try await expect(store.fetchPreviousPage()?.value, equals: true)
    try await expect(store.refetchAllPages().map { $0.value }, equals: [true, true, true])
    let free = OperationStore.detached(query: request)
    try await expect(free.fetchNextPage()?.value, equals: false)
  }

  @Test
  func `A run without subscribers changes the state in place`() async throws {
    let store = OperationStore.detached(query: Request(actor: PageActor()))
    try await store.fetchNextPage()
    let storage = ObjectIdentifier(store.state.storage)
    try await store.fetchNextPage()
    expect(ObjectIdentifier(store.state.storage), equals: storage)
    try await store.fetchPreviousPage()
    expect(ObjectIdentifier(store.state.storage), equals: storage)
    try await store.refetchAllPages()
    expect(ObjectIdentifier(store.state.storage), equals: storage)
    expect(store.currentValue.count, equals: 3)
  }
}

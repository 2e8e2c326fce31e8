import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// A maximum number of pages.
@Suite(.bounded, .warningsAreIssues)
struct MaximumPagesTests {
  @Test
  func `A page above the maximum drops one at the other end, in both directions`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request.maximumPages(3))
    for _ in 0..<4 { try await store.fetchNextPage() }
    expect(store.text, equals: "1x 2x 3x")
    expect(store.previousPageId, equals: 0)
    try await expect(store.fetchPreviousPage()?.id, equals: 0)
    expect(store.text, equals: "0x 1x 2x")
    expect(store.nextPageId, equals: 3)
    try await expect(store.fetchPreviousPage()?.id, equals: -1)
    expect(store.text, equals: "-1x 0x 1x")
  }

  @Test
  func `A list can keep one page`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request.maximumPages(1))
    for _ in 0..<3 { try await store.fetchNextPage() }
    expect(store.text, equals: "2x")
    try await store.fetchPreviousPage()
    expect(store.text, equals: "1x")
  }

  @Test
  func `Pages that were set are dropped when others are loaded`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request.maximumPages(2), initialValue: List("a", "b", "c", "d"))
    expect(store.text, equals: "0a 1b 2c 3d")
    try await store.refetchAllPages()
    expect(store.text, equals: "0x 1x")
    expect(server.fetchedIds, equals: [0, 1])
    store.currentValue = List("a", "b", "c", "d")
    try await store.fetchNextPage()
    expect(store.text, equals: "3d 4x")
  }

  @Test
  func `The maximum nearer to the request wins`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request.maximumPages(2).maximumPages(5))
    for _ in 0..<4 { try await store.fetchNextPage() }
    expect(store.currentValue.count, equals: 2)
  }

  @Test(arguments: [0, -1, Int.min])
  func `A maximum below one is reported and sets none`(count: Int) async throws {
    let server = ListServer(.value("x"))
    let request = expectWarning(.invalidArgument) { server.request.maximumPages(count) }
    let store = ListStore.detached(query: request)
    for _ in 0..<3 { try await store.fetchNextPage() }
    expect(store.currentValue.count, equals: 3)
  }
}

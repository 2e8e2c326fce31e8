import OperationBackoff
import OperationCore
import OperationPagination
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Refetches of all pages.
@Suite(.bounded, .warningsAreIssues)
struct RefetchTests {
  @Test
  func `A refetch without pages fetches nothing`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request)
    try await expect(store.refetchAllPages(), equals: [])
    expect(server.script.runCount, equals: 0)
    expect(store.valueUpdateCount, equals: 0)
    #expect(store.status.isIdle)
  }

  @Test
  func `A refetch begins at the first page and keeps the order`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List(from: -1, "a", "b", "c"))
    server.enqueue("A", "B", "C")
    try await expect(store.refetchAllPages(), equals: List(from: -1, "A", "B", "C"))
    expect(store.text, equals: "-1A 0B 1C")
    expect(server.fetchedIds, equals: [-1, 0, 1])
    expect(server.pagings.map(\.pages.text), equals: ["", "-1A", "-1A 0B"])
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `A refetch shows nothing until all pages are fetched`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    try await server.script.next().succeed("A")
    let run = try await server.script.next()
    expect(store.text, equals: "0a 1b")
    run.succeed("B")
    _ = try await refetch.value
    expect(store.text, equals: "0A 1B")
  }

  @Test
  func `A refetch ends early when a fetched page is the last one`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b", "c", "d"))
    server.bounds = 0...1
    try await store.refetchAllPages()
    expect(store.text, equals: "0x 1x")
    expect(server.fetchedIds, equals: [0, 1])
    expect(store.nextPageId, equals: nil)
  }

  @Test
  func `A refetch never fetches more pages than there were`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    try await store.refetchAllPages()
    expect(server.fetchedIds, equals: [0, 1])
  }

  @Test
  func `A failure keeps the old pages`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    server.script.enqueue(.value("A"), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages() }
    expect(store.text, equals: "0a 1b")
    #expect(store.error is Refused)
    server.enqueue("A", "B")
    try await store.refetchAllPages()
    expect(server.fetchedIds, equals: [0, 1, 0, 1])
  }

  @Test
  func `A retry continues at the page that failed`() async throws {
    let server = ListServer()
    let request = server.request.retry(limit: 2).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b", "c"))
    server.script.enqueue(.value("A"), .error(Refused()), .error(Refused()), .value("B"), .value("C"))
    try await expect(store.refetchAllPages(), equals: List("A", "B", "C"))
    expect(server.fetchedIds, equals: [0, 1, 1, 1, 2])
    expect(store.text, equals: "0A 1B 2C")
  }

  @Test
  func `A refetch after a failed one begins again at the first page, also with retries`() async throws {
    let server = ListServer()
    let request = server.request.retry(limit: 1).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b"))
    server.script.enqueue(.value("A"), .error(Refused()), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages() }
    expect(store.text, equals: "0a 1b")
    server.enqueue("AA", "BB")
    try await store.refetchAllPages()
    expect(server.fetchedIds, equals: [0, 1, 1, 0, 1])
    expect(store.text, equals: "0AA 1BB")
  }

  @Test
  func `A retry continues the refetch although the pages were removed meanwhile`() async throws {
    let server = ListServer()
    let request = server.request.retry(limit: 1).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b"))
    let run = start { try await store.run() }
    try await server.script.next().succeed("A")
    let second = try await server.script.next()
    store.currentValue = []
    second.fail(Refused())
    try await server.script.next().succeed("B")
    try await expect(run.value, equals: .allPages(List("A", "B")))
    expect(store.text, equals: "")
    expect(server.fetchedIds, equals: [0, 1, 1])
  }

  @Test
  func `A refetch that is cancelled between pages keeps the old ones`() async throws {
    let server = ListServer(endsOnCancellation: false)
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    refetch.cancel()
    run.succeed("A")
    await #expect(throws: CancellationError.self) { try await refetch.value }
    expect(store.text, equals: "0a 1b 2c")
    expect(server.fetchedIds, equals: [0])
    expect(store.valueUpdateCount, equals: 0)
    #expect(store.error == nil)
    #expect(!store.isLoading)
  }

  @Test
  func `A refetch with a typed failure that is cancelled between pages keeps the old ones`() async throws {
    let server = ListServer(endsOnCancellation: false)
    let request = TypedListRequest(server: server)
    let store = OperationStore.detached(query: request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    refetch.cancel()
    run.succeed("A")
    _ = await refetch.result
    expect(store.currentValue.text, equals: "0a 1b 2c")
    expect(server.fetchedIds, equals: [0])
  }

  @Test
  func `Edits during a refetch survive, before and after the page that is being fetched`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b", "c", "d"))
    let refetch = start { try await store.refetchAllPages() }
    try await server.script.next().succeed("A")
    let run = try await server.script.next()
    store.currentValue[id: 0]?.value = "edited"
    store.currentValue[id: 2]?.value = "edited"
    run.succeed("B")
    try await server.script.next().succeed("C")
    try await server.script.next().succeed("D")
    try await expect(refetch.value, equals: List("A", "B", "C", "D"))
    expect(store.text, equals: "0edited 1B 2edited 3D")
  }

  @Test
  func `Pages that an edit of all pages leaves equal are replaced by the refetch`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    store.currentValue = store.currentValue.map { page in
      var page = page
      if page.id == 1 { page.value = "edited" }
      return page
    }
    run.succeed("A")
    try await server.script.next().succeed("B")
    _ = try await refetch.value
    expect(store.text, equals: "0A 1edited")
  }

  @Test
  func `Pages that are removed or added during a refetch stay removed or added`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    store.currentValue.remove(id: 1)
    store.currentValue.prepend(Page(id: 90, value: "front"))
    store.currentValue.append(Page(id: 91, value: "back"))
    run.succeed("A")
    try await server.script.next().succeed("B")
    try await server.script.next().succeed("C")
    _ = try await refetch.value
    expect(store.text, equals: "90front 0A 2C 91back")
  }

  @Test(arguments: [List(), List(from: 40, "p", "q")])
  func `Pages that replace all others during a refetch stay`(pages: List) async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await server.script.next()
    store.currentValue = pages
    run.succeed("A")
    try await server.script.next().succeed("B")
    _ = try await refetch.value
    expect(store.currentValue, equals: pages)
  }

  @Test
  func `A yield of a refetch shows in its page, and is removed when the refetch is cancelled`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let first = try await server.script.next()
    first.yield("draft")
    expect(store.text, equals: "0draft 1b")
    first.succeed("A")
    let second = try await server.script.next()
    second.yield("draft")
    expect(store.text, equals: "0draft 1draft")
    expectWarning(.yieldAfterReturn) { first.yield("late") }
    refetch.cancel()
    _ = await refetch.result
    expect(store.text, equals: "0a 1b")
  }
}

/// A list whose failures are of one type.
struct TypedListRequest: PaginatedRequest {
  let server: ListServer
  let initialPageId = 0

  var path: OperationPath { ["typed list", ObjectIdentifier(self.server)] }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, Refused>
  ) async throws(Refused) -> String {
    self.server.noteFetch(paging)
    do {
      return try await self.server.script.run(in: context, with: OperationContinuation { _, _ in })
    } catch {
      throw Refused()
    }
  }
}

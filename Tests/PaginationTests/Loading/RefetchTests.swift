import OperationBackoff
import OperationCore
import OperationPagination
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Fetching all pages anew.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct RefetchTests {
  @Test
  func `It fetches nothing where there are no pages`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request)
    #expect(try await store.refetchAllPages() == [])
    #expect(shelf.script.runCount == 0)
    #expect(store.valueUpdateCount == 0)
    #expect(store.status.isIdle)
  }

  @Test
  func `It keeps the order, from the first page that is there`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List(from: -1, "a", "b", "c"))
    shelf.enqueue("A", "B", "C")
    #expect(try await store.refetchAllPages() == List(from: -1, "A", "B", "C"))
    #expect(store.text == "-1A 0B 1C")
    #expect(shelf.fetchedIds == [-1, 0, 1])
    #expect(shelf.pagings.map(\.pages.text) == ["", "-1A", "-1A 0B"])
    #expect(store.valueUpdateCount == 1)
  }

  @Test
  func `It shows nothing before all pages have come`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    try await shelf.script.next().succeed("A")
    let run = try await shelf.script.next()
    #expect(store.text == "0a 1b")
    run.succeed("B")
    _ = try await refetch.value
    #expect(store.text == "0A 1B")
  }

  @Test
  func `It ends early where the fresh pages do`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b", "c", "d"))
    shelf.bounds = 0...1
    try await store.refetchAllPages()
    #expect(store.text == "0x 1x")
    #expect(shelf.fetchedIds == [0, 1])
    #expect(store.nextPageId == nil)
  }

  @Test
  func `It never fetches more pages than there were`() async throws {
    let shelf = Shelf(.value("x"))
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    try await store.refetchAllPages()
    #expect(shelf.fetchedIds == [0, 1])
  }

  @Test
  func `A failure keeps the old pages`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    shelf.script.enqueue(.value("A"), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages() }
    #expect(store.text == "0a 1b")
    #expect(store.error is Refused)
    shelf.enqueue("A", "B")
    try await store.refetchAllPages()
    #expect(shelf.fetchedIds == [0, 1, 0, 1])
  }

  @Test
  func `A retry goes on at the page that failed`() async throws {
    let shelf = Shelf()
    let request = shelf.request.retry(limit: 2).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b", "c"))
    shelf.script.enqueue(.value("A"), .error(Refused()), .error(Refused()), .value("B"), .value("C"))
    #expect(try await store.refetchAllPages() == List("A", "B", "C"))
    #expect(shelf.fetchedIds == [0, 1, 1, 1, 2])
    #expect(store.text == "0A 1B 2C")
  }

  @Test
  func `A refetch after one that failed begins anew, also with retries`() async throws {
    let shelf = Shelf()
    let request = shelf.request.retry(limit: 1).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b"))
    shelf.script.enqueue(.value("A"), .error(Refused()), .error(Refused()))
    await #expect(throws: Refused()) { try await store.refetchAllPages() }
    #expect(store.text == "0a 1b")
    shelf.enqueue("AA", "BB")
    try await store.refetchAllPages()
    #expect(shelf.fetchedIds == [0, 1, 1, 0, 1])
    #expect(store.text == "0AA 1BB")
  }

  @Test
  func `A retry goes on with the refetch where the pages were removed meanwhile`() async throws {
    let shelf = Shelf()
    let request = shelf.request.retry(limit: 1).delayer(.noDelay)
    let store = ListStore.detached(query: request, initialValue: List("a", "b"))
    let run = start { try await store.run() }
    try await shelf.script.next().succeed("A")
    let second = try await shelf.script.next()
    store.currentValue = []
    second.fail(Refused())
    try await shelf.script.next().succeed("B")
    #expect(try await run.value == .allPages(List("A", "B")))
    #expect(store.text == "")
    #expect(shelf.fetchedIds == [0, 1, 1])
  }

  @Test
  func `Cancelled between pages it keeps the old ones`() async throws {
    let shelf = Shelf(endsOnCancellation: false)
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    refetch.cancel()
    run.succeed("A")
    await #expect(throws: CancellationError.self) { try await refetch.value }
    #expect(store.text == "0a 1b 2c")
    #expect(shelf.fetchedIds == [0])
    #expect(store.valueUpdateCount == 0)
    #expect(store.error == nil)
    #expect(!store.isLoading)
  }

  @Test
  func `Cancelled between pages it keeps the old ones where the failure cannot say so`() async throws {
    let shelf = Shelf(endsOnCancellation: false)
    let request = TypedListRequest(shelf: shelf)
    let store = OperationStore.detached(query: request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    refetch.cancel()
    run.succeed("A")
    _ = await refetch.result
    #expect(store.currentValue.text == "0a 1b 2c")
    #expect(shelf.fetchedIds == [0])
  }

  @Test
  func `Edits made meanwhile survive, before and behind the page that is at work`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b", "c", "d"))
    let refetch = start { try await store.refetchAllPages() }
    try await shelf.script.next().succeed("A")
    let run = try await shelf.script.next()
    store.currentValue[id: 0]?.value = "edited"
    store.currentValue[id: 2]?.value = "edited"
    run.succeed("B")
    try await shelf.script.next().succeed("C")
    try await shelf.script.next().succeed("D")
    #expect(try await refetch.value == List("A", "B", "C", "D"))
    #expect(store.text == "0edited 1B 2edited 3D")
  }

  @Test
  func `An edit of all pages that leaves some equal leaves them to the refetch`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    store.currentValue = store.currentValue.map { page in
      var page = page
      if page.id == 1 { page.value = "edited" }
      return page
    }
    run.succeed("A")
    try await shelf.script.next().succeed("B")
    _ = try await refetch.value
    #expect(store.text == "0A 1edited")
  }

  @Test
  func `Pages that are removed or added meanwhile stay so`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    store.currentValue.remove(id: 1)
    store.currentValue.prepend(Page(id: 90, value: "front"))
    store.currentValue.append(Page(id: 91, value: "back"))
    run.succeed("A")
    try await shelf.script.next().succeed("B")
    try await shelf.script.next().succeed("C")
    _ = try await refetch.value
    #expect(store.text == "90front 0A 2C 91back")
  }

  @Test(arguments: [List(), List(from: 40, "p", "q")])
  func `Pages that took the place of all others meanwhile stay`(pages: List) async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let run = try await shelf.script.next()
    store.currentValue = pages
    run.succeed("A")
    try await shelf.script.next().succeed("B")
    _ = try await refetch.value
    #expect(store.currentValue == pages)
  }

  @Test
  func `A value that a refetch yields shows in the page, and goes with a cancelled refetch`() async throws {
    let shelf = Shelf()
    let store = ListStore.detached(query: shelf.request, initialValue: List("a", "b"))
    let refetch = start { try await store.refetchAllPages() }
    let first = try await shelf.script.next()
    first.yield("draft")
    #expect(store.text == "0draft 1b")
    first.succeed("A")
    let second = try await shelf.script.next()
    second.yield("draft")
    #expect(store.text == "0draft 1draft")
    expectWarning(.yieldAfterReturn) { first.yield("late") }
    refetch.cancel()
    _ = await refetch.result
    #expect(store.text == "0a 1b")
  }
}

/// A list whose failures are of one type.
struct TypedListRequest: PaginatedRequest {
  let shelf: Shelf
  let initialPageId = 0

  var path: OperationPath { ["typed list", ObjectIdentifier(self.shelf)] }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, Refused>
  ) async throws(Refused) -> String {
    self.shelf.note(paging)
    do {
      return try await self.shelf.script.run(in: context, with: OperationContinuation { _, _ in })
    } catch {
      throw Refused()
    }
  }
}

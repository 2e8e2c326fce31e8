#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  // All ways to name a page and its neighbours. That this compiles is half of the test.

  private struct Refused: Error, Equatable {
    var page: Int
  }

  private struct Feed: Equatable, Sendable {
    struct Links: Equatable, Sendable {
      var next: String?
    }

    var items: [Int]
    var next: Int?
    var previous: Int?
    var links: Links?

    /// The page of a list of the tens from -10 to 10.
    init(page: Int) {
      self.items = [page * 10, page * 10 + 1]
      self.next = page < 1 ? page + 1 : nil
      self.previous = page > -1 ? page - 1 : nil
    }

    init(cursor: String?, of cursors: [String]) {
      let index = cursor.flatMap { cursors.firstIndex(of: $0) } ?? -1
      self.items = [index]
      self.links = index + 1 < cursors.count ? Links(next: cursors[index + 1]) : nil
    }
  }

  @PaginatedRequest(initialPageId: 0, next: \.next, previous: \.previous)
  private func feed(page: Int) -> Feed { Feed(page: page) }

  @PaginatedRequest(initialPageId: nil, next: \.links?.next)
  private func cursorFeed(of cursors: [String], page cursor: String?) async throws -> Feed {
    Feed(cursor: cursor, of: cursors)
  }

  @PaginatedRequest(initialPageId: nil, next: { (page: Page<String?, Feed>) in page.value.links?.next })
  private func cursorFeedByClosure(page cursor: String?) async throws -> Feed { Feed(cursor: cursor, of: ["a"]) }

  @PaginatedRequest(initialPageId: nil, next: nextCursor)
  private func cursorFeedByFunction(page cursor: String?) async throws -> Feed { Feed(cursor: cursor, of: ["a"]) }

  private func nextCursor(after page: Page<String?, Feed>) -> String? { page.value.links?.next }

  @PaginatedRequest(next: \Feed.next)
  private func fromDefault(pageId: Int = 1) throws(Refused) -> Feed { Feed(page: pageId) }

  @PaginatedRequest(initialPageId: { (first: Int) in first * 2 }, next: \.last?.next)
  private func list(startingAt first: Int, offset pageID: Int) -> [Feed] { [Feed(page: pageID)] }

  @PaginatedRequest(
    initialPageId: 0,
    next: { (page: Page<Int, [Int]>, size: Int, paging: Paging<Int, [Int]>, context: OperationContext) -> Int? in
      if page.value.count < size { return nil }
      return paging.pages.count < context.greeting.count ? page.id + size : nil
    },
    previous: { (size: Int, page: Page<Int, [Int]>) in page.id < -20 ? nil : page.id - size }
  )
  private func sized(size: Int, page offset: Int) -> [Int] { Array(offset..<offset + size) }

  @PaginatedRequest(initialPageId: 0, next: following, previous: preceding(_:in:with:))
  private func byFunctions(page: Int) async -> Feed { Feed(page: page) }

  @Sendable private func following(_ page: Page<Int, Feed>, in paging: Paging<Int, Feed>) -> Int? {
    paging.pages.count < 2 ? page.value.next : nil
  }

  @Sendable private func preceding(
    _ page: Page<Int, Feed>,
    in paging: Paging<Int, Feed>,
    with context: OperationContext
  ) -> Int? {
    context.greeting == "hello" ? page.value.previous : nil
  }

  @PaginatedRequest(initialPageId: 0, next: nil, previous: \.previous)
  private func backwards(page: Int) -> Feed { Feed(page: page) }

  @PaginatedRequest(initialPageId: 0, next: \.self)
  private func selves(page: Int) -> Int { page + 1 }

  @PaginatedRequest(initialPageId: 5, next: \.[0])
  private func described(paging: Paging<Int, [Int]>) async throws(Refused) -> [Int] {
    if paging.pageId == 7 { throw Refused(page: 7) }
    return [paging.pageId + 1, paging.pages.count, paging.request == .initialPage ? 1 : 0]
  }

  @PaginatedRequest(initialPageId: 0, next: \.next)
  private func both(_ page: Int, in paging: Paging<Int, Feed>) -> Feed {
    #expect(paging.pageId == page)
    return Feed(page: page)
  }

  @PaginatedRequest(initialPageId: 0, next: \.next)
  private func withRunParameters(
    page: Int,
    isolation: isolated (any Actor)? = #isolation,
    context: OperationContext,
    continuation: OperationContinuation<Feed, any Error>
  ) async throws -> Feed {
    continuation.yield(Feed(page: -1))
    #expect(context.greeting == "bye")
    return Feed(page: page)
  }

  @PaginatedRequest(initialPageId: 0, next: \.next)
  private func named(context name: String, paging size: Int, page: Int) -> Feed {
    Feed(page: name.count + size + page)
  }

  @Suite(.bounded) struct PaginatedRequestTests {
    @Test func `Next and previous pages are found by key paths of the page's value`() async {
      let store = OperationStore.detached(query: $feed)
      #expect(await store.fetchNextPage() == Page(id: 0, value: Feed(page: 0)))
      #expect(await store.fetchNextPage() == Page(id: 1, value: Feed(page: 1)))
      #expect(await store.fetchPreviousPage() == Page(id: -1, value: Feed(page: -1)))
      #expect(await store.fetchNextPage() == nil)
      #expect(await store.fetchPreviousPage() == nil)
      #expect(store.currentValue.map(\.id) == [-1, 0, 1])
      #expect(await store.refetchAllPages().count == 3)
    }

    @Test func `A cursor that is nil names the first page and ends the list`() async throws {
      for cursors in [["a", "b"], []] {
        let store = OperationStore.detached(query: $cursorFeed(of: cursors))
        for _ in 0..<9 where try await store.fetchNextPage() == nil { break }
        #expect(store.currentValue.map(\.id) == [nil] + cursors)
      }
      let store = OperationStore.detached(query: $cursorFeed(of: ["a", "b"]).maximumPages(1))
      for _ in 0..<9 where try await store.fetchNextPage() == nil { break }
      #expect(store.currentValue.map(\.id) == ["b"])
      let byClosure = OperationStore.detached(query: $cursorFeedByClosure.maximumPages(1))
      for _ in 0..<9 where try await byClosure.fetchNextPage() == nil { break }
      #expect(byClosure.currentValue.map(\.id) == ["a"])
      let byFunction = OperationStore.detached(query: $cursorFeedByFunction.maximumPages(1))
      for _ in 0..<9 where try await byFunction.fetchNextPage() == nil { break }
      #expect(byFunction.currentValue.map(\.id) == ["a"])
    }

    @Test func `The default value of the page is the first page`() async throws {
      #expect($fromDefault.initialPageId == 1)
      let store = OperationStore.detached(query: $fromDefault)
      #expect(try await store.fetchNextPage()?.id == 1)
      #expect(try await store.fetchNextPage() == nil)
    }

    @Test func `The first page is computed from arguments`() async {
      #expect($list(startingAt: -2).initialPageId == -4)
      let store = OperationStore.detached(query: $list(startingAt: 0))
      #expect(await store.fetchNextPage()?.id == 0)
      #expect(await store.fetchNextPage()?.id == 1)
      #expect(await store.fetchNextPage() == nil)
    }

    @Test func `A closure receives the page, the paging, the context and arguments`() async {
      let store = OperationStore.detached(query: $sized(size: 10))
      store.context.greeting = "yes"
      for _ in 0..<9 where await store.fetchNextPage() == nil { break }
      for _ in 0..<9 where await store.fetchPreviousPage() == nil { break }
      #expect(store.currentValue.map(\.id) == [-30, -20, -10, 0, 10, 20])
      store.context.greeting = "four"
      #expect(await store.fetchNextPage() == nil)
    }

    @Test func `Neighbours are found by functions`() async {
      let store = OperationStore.detached(query: $byFunctions)
      #expect(await store.fetchNextPage()?.id == 0)
      #expect(await store.fetchNextPage()?.id == 1)
      #expect(await store.fetchPreviousPage()?.id == -1)
      store.context.greeting = "bye"
      #expect(await store.fetchPreviousPage() == nil)
    }

    @Test func `A list may have pages in one direction only`() async {
      let store = OperationStore.detached(query: $backwards)
      #expect(await store.fetchPreviousPage()?.id == 0)
      #expect(await store.fetchNextPage() == nil)
      #expect(await store.fetchPreviousPage()?.id == -1)
    }

    @Test func `The page's value may be an identifier itself`() async {
      let store = OperationStore.detached(query: $selves)
      #expect(await store.fetchNextPage()?.value == 1)
      #expect(await store.fetchNextPage()?.value == 2)
    }

    @Test func `A function may take the paging in place of the page or with it`() async throws {
      let store = OperationStore.detached(query: $described)
      #expect(try await store.fetchNextPage()?.value == [6, 0, 1])
      #expect(try await store.fetchNextPage()?.value == [7, 1, 0])
      do throws(Refused) {
        _ = try await store.fetchNextPage()
        Issue.record("It failed to fail.")
      } catch {
        #expect(error == Refused(page: 7))
      }
      #expect(await OperationStore.detached(query: $both).fetchNextPage()?.id == 0)
    }

    @Test func `A run passes the context, the continuation and the isolation`() async throws {
      let store = OperationStore.detached(query: $withRunParameters)
      store.context.greeting = "bye"
      #expect(try await store.fetchNextPage()?.value == Feed(page: 0))
      #expect(store.valueUpdateCount == 2)
    }

    @Test func `Arguments may have the names of parameters that a run passes`() async {
      let store = OperationStore.detached(query: $named(context: "", paging: 1))
      #expect(await store.fetchNextPage()?.value == Feed(page: 1))
    }

    @Test func `A paginated request runs without a store`() async throws {
      #expect(await #run($feed) == .initialPage(Page(id: 0, value: Feed(page: 0))))
      let value = try await #run($described.retry(limit: 1))
      #expect(value.page?.id == 5)
    }
  }
#endif

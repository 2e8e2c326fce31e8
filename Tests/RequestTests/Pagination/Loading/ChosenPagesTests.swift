import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// `refetchFirstPage(keeping:)` and `refetchPages(where:)`: some of the pages again, in place of all.
@Suite(.bounded, .warningsAreIssues)
struct ChosenPagesTests {
  private let server = ListServer()

  /// A store with pages from 0 on, whose values are "old".
  private func store(pages count: Int) -> ListStore {
    let store = ListStore.detached(query: self.server.request)
    store.currentValue = List((0..<count).map { ListPage(id: $0, value: "old") })
    return store
  }

  private func values(_ store: ListStore) -> [String] { store.currentValue.map { "\($0.id) \($0.value)" } }

  @Test func `Pulling down a list of forty pages makes one request`() async throws {
    let store = self.store(pages: 40)
    self.server.script.enqueue(.value("new"))
    let page = try await store.refetchFirstPage()
    expect(page, equals: ListPage(id: 0, value: "new"))
    expect(self.server.script.runCount, equals: 1)
    expect(store.currentValue.count, equals: 40)
    expect(self.values(store).prefix(2), equals: ["0 new", "1 old"])
    #expect(store.hasNextPage)
  }

  @Test func `The list begins anew where the rest is not kept`() async throws {
    let store = self.store(pages: 40)
    self.server.script.enqueue(.error(Refused()), .value("new"), .value("next"))
    // A failure leaves the pages as they are.
    await #expect(throws: Refused.self) { try await store.refetchFirstPage(keeping: .none) }
    expect(store.currentValue.count, equals: 40)
    try await store.refetchFirstPage(keeping: .none)
    expect(self.values(store), equals: ["0 new"])
    expect(self.server.script.runCount, equals: 2)
    try await store.fetchNextPage()
    expect(self.values(store), equals: ["0 new", "1 next"])
  }

  @Test func `Without pages the initial page is loaded`() async throws {
    let store = self.store(pages: 0)
    self.server.script.enqueue(.value("first"))
    try await expect(store.refetchFirstPage(), equals: ListPage(id: 0, value: "first"))
    expect(self.values(store), equals: ["0 first"])
  }

  @Test func `The pages that a predicate chooses are fetched in order and shown together`() async throws {
    let store = self.store(pages: 5)
    let refetch = Task { try await store.refetchPages { $0.id.isMultiple(of: 2) } }
    for number in 0..<3 {
      let run = try await self.server.script.next()
      #expect(self.values(store).allSatisfy { $0.hasSuffix("old") })
      run.succeed("new \(number)")
    }
    try await expect(refetch.value.map(\.id), equals: [0, 2, 4])
    expect(self.values(store), equals: ["0 new 0", "1 old", "2 new 1", "3 old", "4 new 2"])
    expect(self.server.script.runCount, equals: 3)
    #expect(try await store.refetchPages { $0.id > 100 }.isEmpty)
    expect(self.server.script.runCount, equals: 3)
  }

  @Test func `What is written or removed meanwhile is kept`() async throws {
    let store = self.store(pages: 4)
    let refetch = Task { try await store.refetchPages { $0.id < 3 } }
    let run = try await self.server.script.next()
    store.currentValue[id: 1]?.value = "mine"
    store.currentValue.remove(id: 2)
    store.currentValue.append(ListPage(id: 9, value: "added"))
    run.succeed("new")
    try await self.server.script.next().succeed("new")
    try await self.server.script.next().succeed("new")
    _ = try await refetch.value
    expect(self.values(store), equals: ["0 new", "1 mine", "3 old", "9 added"])
  }

  @Test
  func `The rest stays as old as it was, and an invalidation is answered by a list that begins anew`() async throws {
    let clock = ManualClock()
    let client = OperationClient()
    let store = client.store(for: self.server.request.stale(after: .seconds(60)).manualTime(clock), initialValue: [])
    store.currentValue = List((0..<3).map { ListPage(id: $0, value: "old") })
    clock.advance(by: .seconds(50))
    self.server.script.enqueue(.value("new"), .value("new"), .value("new"))
    try await store.refetchFirstPage()
    #expect(!store.isStale)
    clock.advance(by: .seconds(20))
    #expect(store.isStale)
    try await store.refetchFirstPage(keeping: .none)
    #expect(!store.isStale)
    store.currentValue.append(ListPage(id: 1, value: "more"))
    client.invalidate(rerunning: .none)
    try await store.refetchFirstPage()
    #expect(store.isStale)
    self.server.script.enqueue(.value("new"))
    try await store.refetchFirstPage(keeping: .none)
    #expect(!store.isStale)
  }

  @Test func `Callers of the same pages share a run, and others do not`() async throws {
    let store = ListStore.detached(query: self.server.request.deduplicated())
    store.currentValue = List((0..<3).map { ListPage(id: $0, value: "old") })
    let first = Task { try await store.refetchFirstPage() }
    let run = try await self.server.script.next()
    let second = Task.immediate { try await store.refetchFirstPage() }
    expect(self.server.script.runCount, equals: 1)
    run.succeed("new")
    try await expect(first.value, equals: ListPage(id: 0, value: "new"))
    try await expect(second.value, equals: ListPage(id: 0, value: "new"))
    let whole = Task { try await store.refetchAllPages() }
    let firstOfAll = try await self.server.script.next()
    let alone = Task.immediate { try await store.refetchFirstPage() }
    firstOfAll.succeed("a")
    try await self.server.script.next().succeed("b")
    try await self.server.script.next().succeed("c")
    try await expect(whole.value.count, equals: 3)
    try await self.server.script.next().succeed("d")
    try await expect(alone.value?.value, equals: "d")
    expect(self.values(store), equals: ["0 d", "1 b", "2 c"])
  }

  @Test func `A task, and modifiers that count pages, see one page`() async throws {
    let store = self.store(pages: 10)
    self.server.script.enqueue(.value("new"))
    try await expect(store.refetchFirstPageTask(keeping: .none).runIfNeeded(), equals: ListPage(id: 0, value: "new"))
    expect(store.currentValue.count, equals: 1)
  }
}

/// `elements(uniqueBy:)`: elements that move between pages.
@Suite(.bounded, .warningsAreIssues)
struct UniqueElementsTests {
  private struct Post: Identifiable, Hashable, Sendable {
    let id: Int
    var text = ""
  }

  private struct Feed: PaginatedRequest, Hashable {
    let initialPageId = 0
    var path: OperationPath { ["feed"] }

    func pageId(
      after page: Page<Int, [Post]>,
      using paging: Paging<Int, [Post]>,
      in context: OperationContext
    ) -> Int? {
      page.id + 1
    }

    /// Two posts a page, of those that the context has.
    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, [Post]>,
      in context: OperationContext,
      with continuation: OperationContinuation<[Post], any Error>
    ) async throws -> [Post] {
      Array(context[PostsKey.self].dropFirst(paging.pageId * 2).prefix(2))
    }
  }

  private enum PostsKey: OperationContext.Key {
    static let defaultValue: [Post] = []
  }

  private func posts(_ ids: Int..., text: String = "") -> OperationContext {
    var context = OperationContext()
    context[PostsKey.self] = ids.map { Post(id: $0, text: text) }
    return context
  }

  @Test
  func `A post that has moved is in the list once, in the place of the page that was fetched last`() async throws {
    let store = OperationStore.detached(query: Feed())
    try await store.fetchNextPage(using: self.posts(1, 2, 3, 4, 5))
    try await store.fetchNextPage(using: self.posts(1, 2, 3, 4, 5))
    // A new post pushes 2 into the second page, and 4 into the third.
    try await store.fetchNextPage(using: self.posts(9, 1, 2, 3, 4, 5))
    expect(store.currentValue.flatMap(\.value).map(\.id), equals: [1, 2, 3, 4, 4, 5])
    expect(store.currentValue.uniqueElements.map(\.id), equals: [1, 2, 3, 4, 5])
    // 5 was moved to the top.
    try await store.refetchFirstPage(using: self.posts(5, 9, 1, 2, 3, 4, text: "new"))
    expect(store.currentValue.uniqueElements.map(\.id), equals: [5, 9, 3, 4])
    expect(store.currentValue.uniqueElements.first?.text, equals: "new")
    try await store.refetchAllPages(using: self.posts(5, 9, 1, 2, 3, 4))
    expect(store.currentValue.elements(uniqueBy: \.id).map(\.id), equals: [5, 9, 1, 2, 3, 4])
  }
}

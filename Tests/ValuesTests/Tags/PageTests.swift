import OperationCore
import OperationMutation
import OperationPagination
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// The tags of a paginated operation, page by page.
@Suite(.bounded, .warningsAreIssues) struct PageTests {
  private let client = OperationClient()
  private let script = PostsScript()
  private let computed = Log<[Int]>()

  private func store(_ pages: Pages<Int, [Post]> = []) -> OperationStore<PageState> {
    let query = PageQuery(script: self.script).tagged { [computed] page in
      computed.append(page.map(\.id))
      return page.map { .post($0.id) }
    }
    return self.client.store(
      for: query.disableAutomaticRunning(),
      initialState: PageState(for: query, initialValue: pages)
    )
  }

  private func isTagged(_ id: Int) -> Bool { !self.client.stores(tagged: .post(id)).isEmpty }

  @Test func `A page that is added, replaced or removed touches its own tags alone`() async throws {
    let store = self.store()
    for page in 0..<3 {
      self.script.enqueue(.value(posts(page * 10, 99)))
      try await store.fetchNextPage()
    }
    expect(self.computed.all, equals: [[0, 99], [10, 99], [20, 99]])
    expect(self.client.tagCounts.memberships, equals: 6)
    expect(self.client.paths(tagged: .post(99)).count, equals: 1)

    store.currentValue[id: 1] = Page(id: 1, value: posts(11))
    expect(self.computed.all.count, equals: 4)
    #expect(!self.isTagged(10))
    #expect(self.isTagged(11))
    // Two other pages have it.
    #expect(self.isTagged(99))

    store.currentValue.remove(id: 0)
    expect(self.computed.all.count, equals: 4)
    #expect(!self.isTagged(0))
    store.currentValue.remove(id: 2)
    #expect(!self.isTagged(99))
    #expect(self.isTagged(11))
    store.currentValue = []
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `What a page yields has its tags until the page is there`() async throws {
    let store = self.store()
    let task = Task.immediate { try await store.fetchNextPage() }
    let run = try await self.script.next()
    run.yield(posts(1))
    #expect(self.isTagged(1))
    run.yield(posts(2))
    #expect(!self.isTagged(1))
    #expect(self.isTagged(2))
    run.succeed(posts(3))
    _ = try await task.value
    #expect(!self.isTagged(2))
    #expect(self.isTagged(3))
    store.resetState()
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `A caller after an invalidation gets no initial page from before it, although it waits for that page`()
    async throws
  {
    let store = self.store()
    let first = Task.immediate { try await store.fetchNextPage() }
    let run = try await self.script.next()
    // No page has the tag, so the invalidation finds no store.
    self.client.invalidate(tagged: .post(1))
    let second = Task.immediate { try await store.fetchNextPage() }
    run.succeed(posts(1))
    try await expect(first.value?.value, equals: posts(1))
    try await self.script.next().succeed(posts(1, 2))
    try await expect(second.value?.value, equals: posts(1, 2))
    expect(self.script.runCount, equals: 2)
  }

  @Test func `Loading one of two thousand pages computes the tags of that page`() {
    let store = self.store(Pages((0..<2_000).map { Page(id: $0, value: posts($0)) }))
    expect(self.computed.count, equals: 2_000)
    store.currentValue.append(Page(id: 2_000, value: posts(2_000)))
    expect(self.computed.count, equals: 2_001)
    store.currentValue.prepend(Page(id: -1, value: posts(-1)))
    expect(self.computed.count, equals: 2_002)
    store.currentValue[id: 1_000]?.value.append(Post(id: 5_000))
    expect(self.computed.count, equals: 2_003)
    for id in [0, 1_999, 2_000, -1, 5_000, 1_000] { #expect(self.isTagged(id)) }
    expect(self.client.tagCounts.memberships, equals: 2_003)
  }

  @Test func `An optimistic update of one page has its tags while it is shown`() async throws {
    let store = self.store([Page(id: 0, value: posts(1)), Page(id: 1, value: posts(2))])
    let edits = OperationScript<Post, any Error>()
    let mutation = EditPost(script: edits).optimistic(on: ["pages"], of: PageState.self) { pages, id in
      pages[id: 1]?.value.append(Post(id: id))
    }
    let mutationStore = self.client.store(for: mutation)
    let task = Task.immediate { try await mutationStore.mutate(with: 7) }
    let run = try await edits.next()
    #expect(self.isTagged(7))
    run.fail(Refused())
    _ = try? await task.value
    #expect(!self.isTagged(7))
    #expect(self.isTagged(1))
    #expect(self.isTagged(2))
    _ = store
  }

  @Test func `Pages can be tagged by the identifiers of their elements, beside tags of the whole list`() {
    let query = PageQuery(script: self.script).taggedByID("post").tagged(OperationTag("feed"))
    let store = self.client.store(for: query.disableAutomaticRunning(), initialState: PageState(for: query))
    expect(self.client.stores(tagged: OperationTag("feed")).count, equals: 1)
    store.currentValue = [Page(id: 0, value: posts(1))]
    #expect(self.isTagged(1))
    expect(self.client.stores(tagged: OperationTag("feed"), .post(1)).count, equals: 1)
    expect(self.client.tagCounts.memberships, equals: 2)
  }
}

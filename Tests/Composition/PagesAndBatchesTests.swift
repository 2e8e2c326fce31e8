import Operation
import OperationTesting
import TestFixtures
import Testing

/// A screen that loads pages of posts, and the author of each post: one request for the page, and one for its authors.
@Suite(.bounded, .warningsAreIssues) struct PagesAndBatchesTests {
  private let clock = ManualClock()
  private let posts = OperationScript<[Int], any Error>()
  /// The keys of each request for authors.
  private let batches = Log<[Int]>()
  private let client: OperationClient
  private let authors: OperationBatcher<Int, String>

  init() {
    var context = OperationContext()
    context.use(self.clock)
    self.client = OperationClient(defaultContext: context, storeCreator: .defaultTesting)
    self.authors = OperationBatcher { [batches] keys, _ in
      batches.append(keys)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success("author \($0)")) })
    }
  }

  /// Begins to load the author of each post, as independent rows do.
  private func beginRows(of posts: [Int]) -> [Task<String, any Error>] {
    posts.map { author in
      let store = self.client.store(for: self.authors.query(for: author, path: ["authors", author]))
      return Task.immediate { try await store.fetch() }
    }
  }

  @Test func `Two screens that load a page and its authors make two requests`() async throws {
    let feed = self.client.store(for: ScriptedFeed(script: self.posts))
    var expected: [[Int]] = []
    for (number, page) in [[1, 2, 1, 3], [3, 4, 4, 5]].enumerated() {
      let loads = (1...2).map { _ in Task.immediate { try await feed.fetchNextPage() } }
      try await self.posts.next().succeed(page)
      for load in loads { try await expect(load.value?.value, equals: page) }
      expect(self.posts.runCount, equals: number + 1)

      let rows = (1...2).flatMap { _ in self.beginRows(of: page) }
      self.clock.advance(by: .milliseconds(2))
      for (row, author) in zip(rows, page + page) { try await expect(row.value, equals: "author \(author)") }
      expected.append(number == 0 ? [1, 2, 3] : [3, 4, 5])
      expect(self.batches.all, equals: expected)
    }
    expect(feed.currentValue.map(\.value), equals: [[1, 2, 1, 3], [3, 4, 4, 5]])
  }

  @Test func `A row that leaves takes its key along, and the others keep theirs`() async throws {
    let rows = self.beginRows(of: [1, 2, 2])
    rows[0].cancel()
    rows[1].cancel()
    _ = await (rows[0].result, rows[1].result)
    self.clock.advance(by: .milliseconds(2))
    try await expect(rows[2].value, equals: "author 2")
    expect(self.batches.all, equals: [[2]])
    #expect(self.client.store(for: self.authors.query(for: 1, path: ["authors", 1])).error == nil)
  }
}

/// The authors of posts, in pages.
private struct ScriptedFeed: PaginatedRequest {
  let script: OperationScript<[Int], any Error>
  let initialPageId = 0

  var path: OperationPath { ["feed"] }

  func pageId(after page: Page<Int, [Int]>, using paging: Paging<Int, [Int]>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Int]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int], any Error>
  ) async throws -> [Int] {
    try await self.script.run(in: context, with: continuation)
  }
}

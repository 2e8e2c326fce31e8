import OperationCore
import OperationEntities
import OperationMutation
import OperationPagination
import OperationTesting

struct Author: Identifiable, Equatable, Codable, Sendable {
  let id: Int
  var name = ""
}

struct Post: Identifiable, Equatable, Codable, Sendable {
  let id: Int
  var title = ""
  var likes = 0
}

struct Detail: Equatable, Codable, Sendable {
  var post: Post
  var author: Author?
  var related: [Post] = []
}

typealias FeedScript = OperationScript<[Post], any Error>
typealias FeedStore = OperationStore<QueryState<[Post], any Error>>
typealias DetailScript = OperationScript<Detail, any Error>
typealias DetailStore = OperationStore<QueryState<Detail, any Error>>
typealias PageState = PaginatedState<Int, [Post], any Error>

func posts(_ titles: KeyValuePairs<Int, String>) -> [Post] { titles.map { Post(id: $0.key, title: $0.value) } }

extension OperationClient {
  /// A list of posts, which runs only when a test asks for it, and is stale only when it was invalidated.
  func feed(_ name: String = "feed", _ script: FeedScript = FeedScript(), initialValue: [Post]? = nil) -> FeedStore {
    self.store(
      for: script.query(path: [name]).entities { $0.each(\.self) }
        .stale(after: .seconds(1_000_000), whenNoValue: false).disableAutomaticRunning(),
      initialValue: initialValue
    )
  }

  /// A post with its author and related posts.
  func detail(
    _ name: String = "detail",
    _ script: DetailScript = DetailScript(),
    initialValue: Detail? = nil
  )
    -> DetailStore
  {
    let query = script.query(path: [name]).entities { detail in
      detail.one(\.post)
      detail.one(\.author)
      detail.each(\.related)
    }
    return self.store(
      for: query.stale(after: .seconds(1_000_000), whenNoValue: false).disableAutomaticRunning(),
      initialValue: initialValue
    )
  }

  /// A list of pages of posts.
  func pages(_ script: FeedScript, _ initialPages: Pages<Int, [Post]> = []) -> OperationStore<PageState> {
    let query = PageQuery(script: script).entities { $0.each(\.self) }
      .stale(after: .seconds(1_000_000), whenNoValue: false).disableAutomaticRunning()
    return self.store(for: query, initialState: PageState(for: query, initialValue: initialPages))
  }
}

/// A list of pages of posts, whose pages come from a script.
struct PageQuery: PaginatedRequest {
  let script: FeedScript
  let initialPageId = 0

  var path: OperationPath { ["pages"] }

  func pageId(after page: Page<Int, [Post]>, using paging: Paging<Int, [Post]>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Post]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Post], any Error>
  ) async throws -> [Post] {
    try await self.script.run(in: context, with: continuation)
  }
}

/// The arguments of an edit.
struct Edit: Sendable {
  let id: Int
  var suffix = "!"
}

/// A mutation whose calls a script answers with a post.
struct EditPost: MutationRequest {
  let script: OperationScript<Post, any Error>
  var path: OperationPath = ["edit"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Edit,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post {
    try await self.script.run(in: context, with: continuation)
  }
}

extension EditPost {
  /// Adds the suffix to the title, and takes the post that the call returns.
  var withResult: some MutationRequest<Edit, Post, any Error> {
    self.editsEntity(
      Post.self,
      id: { $0.id },
      optimistically: { post, edit in post.title += edit.suffix },
      result: { $0 }
    )
  }

  /// Adds the suffix to the title.
  var withoutResult: some MutationRequest<Edit, Post, any Error> {
    self.editsEntity(Post.self, id: { $0.id }, optimistically: { post, edit in post.title += edit.suffix })
  }
}

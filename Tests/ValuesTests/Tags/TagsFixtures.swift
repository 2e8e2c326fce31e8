import OperationCore
import OperationMutation
import OperationPagination
import OperationTags
import OperationTesting

struct Post: Identifiable, Equatable, Codable, Sendable {
  let id: Int
  var title = ""
}

typealias PostsState = QueryState<[Post], any Error>
typealias PostsStore = OperationStore<PostsState>
typealias PostsScript = OperationScript<[Post], any Error>
typealias PageState = PaginatedState<Int, [Post], any Error>

func posts(_ ids: Int...) -> [Post] { ids.map { Post(id: $0) } }

extension OperationTag {
  static func post(_ id: Int) -> OperationTag { .entity("post", id) }
}

extension OperationClient {
  /// The paths of the stores with one of these tags.
  func storePaths(tagged tags: OperationTag...) -> [OperationPath] { self.stores(tagged: tags).map { $0.path } }

  /// The paths of the stores with a tag, as text and sorted.
  func paths(tagged tag: OperationTag) -> [String] { self.stores(tagged: tag).map { "\($0.path)" }.sorted() }

  /// A store of posts with the tags of its posts. It runs only when a test asks for it, and is stale only when it was
  /// invalidated.
  func posts(_ name: String = "posts", _ script: PostsScript = PostsScript(), initialValue: [Post]? = nil) -> PostsStore
  {
    self.store(
      for: script.query(path: [name]).taggedByID("post").stale(after: .seconds(1_000_000), whenNoValue: false)
        .disableAutomaticRunning(),
      initialValue: initialValue
    )
  }
}

/// A list of pages of posts, whose pages come from a script.
struct PageQuery: PaginatedRequest {
  let script: PostsScript
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

/// A mutation whose calls a script answers with a post.
struct EditPost: MutationRequest {
  let script: OperationScript<Post, any Error>
  var path: OperationPath = ["edit"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post {
    try await self.script.run(in: context, with: continuation)
  }
}

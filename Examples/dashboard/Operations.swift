import Operation
import OperationDevtools
import PostService

extension OperationClient {
  /// A client for the posts of a server, which tries again every 0.4 seconds.
  ///
  /// Its page of devtools can take the network away, and make attempts slow or fail.
  static func dashboard(api: PostAPI, simulation: Simulation) -> OperationClient {
    let client = OperationClient(
      storeCreator: simulation.storeCreator(
        .default(
          retryLimit: 3,
          backoff: .constant(.milliseconds(400)),
          networkObserver: simulation.networkObserver(),
          activityObserver: nil
        )
      )
    )
    client.defaultContext.postAPI = api
    return client
  }
}

extension OperationContext {
  /// The server of the operations.
  var postAPI: PostAPI {
    get {
      guard let api = self[PostAPIKey.self] else { preconditionFailure("The client's default context has no PostAPI.") }
      return api
    }
    set { self[PostAPIKey.self] = newValue }
  }

  private enum PostAPIKey: Key {
    static let defaultValue: PostAPI? = nil
  }
}

struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Post?, any Error>
  ) async throws -> Post? {
    try await context.postAPI.post(id: self.id)
  }
}

struct FeedQuery: PaginatedRequest, Hashable {
  static let pageSize = 10

  let initialPageId = 0

  func pageId(
    after page: Page<Int, PostPage>,
    using paging: Paging<Int, PostPage>,
    in context: OperationContext
  ) -> Int? {
    let next = page.id + Self.pageSize
    return next < page.value.total ? next : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, PostPage>,
    in context: OperationContext,
    with continuation: OperationContinuation<PostPage, any Error>
  ) async throws -> PostPage {
    try await context.postAPI.page(limit: Self.pageSize, skip: paging.pageId)
  }
}

struct CreatePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with draft: PostDraft,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post {
    try await context.postAPI.add(draft)
  }
}

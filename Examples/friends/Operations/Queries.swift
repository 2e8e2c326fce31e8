import Operation
import PostService

/// A person's profile: the relationship to the user, and the ids of the friends.
struct Profile: QueryRequest {
  typealias State = QueryState<Person, any Error>

  let id: Int

  var path: OperationPath { ["people", self.id, "profile"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Person, any Error>
  ) async throws -> Person {
    try await context.postAPI.person(self.id)
  }
}

/// A person's friends, page by page.
struct FriendList: PaginatedRequest {
  typealias State = PaginatedState<Int, PeoplePage, any Error>

  let id: Int
  let initialPageId = 0

  var path: OperationPath { ["people", self.id, "friends"] }

  func pageId(
    after page: Page<Int, PeoplePage>,
    using paging: Paging<Int, PeoplePage>,
    in context: OperationContext
  ) -> Int? {
    page.value.isLast ? nil : page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, PeoplePage>,
    in context: OperationContext,
    with continuation: OperationContinuation<PeoplePage, any Error>
  ) async throws -> PeoplePage {
    try await context.postAPI.friends(of: self.id, page: paging.pageId)
  }
}

/// The people that have sent the user a friend request.
struct FriendRequests: QueryRequest {
  typealias State = QueryState<[Person], any Error>

  let path: OperationPath = ["requests"]

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Person], any Error>
  ) async throws -> [Person] {
    try await context.postAPI.friendRequests()
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

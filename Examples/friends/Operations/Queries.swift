import Operation
import PostService

/// What the server has. Each store has the tags of the people that it is about.
enum Remote {
  /// A person's profile: the relationship to the user, and the ids of the friends.
  static func profile(of id: Int) -> some QueryRequest<Person, any Error> {
    QueryOperation<Person, any Error>("people", id) { context in try await context.postAPI.person(id) }
      .taggedByID("person")
      .stale(after: .seconds(600))
  }

  /// The user's profile, which alone says who is a friend of the user.
  static var you: some QueryRequest<Person, any Error> { self.profile(of: PeopleArchive.userID) }

  /// The people that have sent the user a friend request.
  static var requests: some QueryRequest<[Person], any Error> {
    QueryOperation<[Person], any Error>("requests") { context in try await context.postAPI.friendRequests() }
      .taggedByID("person")
      .stale(after: .seconds(600))
  }

  /// A person's friends, page by page.
  static func friends(of id: Int) -> some PaginatedRequest<Int, PeoplePage, any Error> {
    FriendList(id: id)
      .tagged(.person(id))
      .tagged { page in page.people.map { .person($0.id) } }
      .stale(after: .seconds(600))
  }
}

extension OperationTag {
  static func person(_ id: Int) -> OperationTag { .entity("person", id) }
}

private struct FriendList: PaginatedRequest {
  let id: Int
  let initialPageId = 0

  var path: OperationPath { ["friends", self.id] }

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

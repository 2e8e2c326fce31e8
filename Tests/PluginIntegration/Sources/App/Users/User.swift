import Operation

struct User: Hashable, Sendable, Identifiable {
  let id: String
}

extension User {
  struct ProfileQuery: QueryRequest {
    let id: User.ID

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<User, any Error>
    ) async throws -> User {
      User(id: self.id)
    }
  }

  struct FriendsQuery: PaginatedRequest {
    let userId: User.ID
    let initialPageId = 0

    func pageId(
      after page: Page<Int, [User]>,
      using paging: Paging<Int, [User]>,
      in context: OperationContext
    ) -> Int? { nil }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, [User]>,
      in context: OperationContext,
      with continuation: OperationContinuation<[User], any Error>
    ) async throws -> [User] {
      context.friendships[self.userId] ?? []
    }
  }
}

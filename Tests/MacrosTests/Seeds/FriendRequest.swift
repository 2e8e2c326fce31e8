#if SwiftOperationMacros
  import Operation

  // The reference document's friend request, with the client of the context and a server of its own.

  struct User: Sendable, Equatable {
    enum Relationship {
      case notFriends
      case friendRequestSent
    }

    let id: Int
    var relationship: Relationship
  }

  struct FriendsQuery: PaginatedRequest {
    let userId: Int
    let initialPageId = 0

    var path: OperationPath { ["user-friends", self.userId] }

    func pageId(
      after page: Page<Int, [User]>,
      using paging: Paging<Int, [User]>,
      in context: OperationContext
    ) -> Int? {
      page.id + 1
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, [User]>,
      in context: OperationContext,
      with continuation: OperationContinuation<[User], any Error>
    ) async throws -> [User] {
      [
        User(id: paging.pageId * 2, relationship: .notFriends),
        User(id: paging.pageId * 2 + 1, relationship: .notFriends),
      ]
    }
  }

  struct SendFriendRequestArguments: Sendable {
    let userId: Int
  }

  @MutationRequest
  func sendFriendRequestMutation(
    arguments: SendFriendRequestArguments,
    context: OperationContext
  ) async throws {
    guard let client = context.operationClient else { return }
    try await sendFriendRequest(userId: arguments.userId)

    // Friend request succeeded, now optimistically update the state
    // of all friends list queries in the app.
    let stores = client.stores(
      matching: ["user-friends"],
      of: PaginatedState<Int, [User], any Error>.self
    )
    for store in stores {
      store.withExclusiveAccess { store in
        store.currentValue = store.currentValue.updateRelationship(
          for: arguments.userId,
          to: .friendRequestSent
        )
      }
    }
  }

  private func sendFriendRequest(userId: Int) async throws {
    if userId < 0 { throw Failed(code: userId) }
  }

  extension Pages<Int, [User]> {
    fileprivate func updateRelationship(for userId: Int, to relationship: User.Relationship) -> Self {
      self.map { page in
        Page(
          id: page.id,
          value: page.value.map { $0.id == userId ? User(id: userId, relationship: relationship) : $0 }
        )
      }
    }
  }
#endif

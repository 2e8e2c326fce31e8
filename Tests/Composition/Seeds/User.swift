import Operation

// The reference documents' users, friends lists and friend requests.

struct User: Sendable, Equatable {
  enum Relationship {
    case notFriends
    case friendRequestSent
    case friendRequestReceived
    case friends
    case currentUser
  }

  let id: Int
  var relationship: Relationship
}

extension User {
  static func friendsQuery(
    for id: Int
  ) -> some PaginatedRequest<Int, [Self], any Error> {
    FriendsQuery(userId: id)
  }

  struct FriendsQuery: PaginatedRequest {
    typealias PageID = Int
    typealias PageValue = [User]

    let userId: Int
    let initialPageId = 0

    var path: OperationPath {
      ["user-friends", userId]
    }

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
      await context.socialServer.friends(of: userId, page: paging.pageId)
    }
  }
}

extension Pages<Int, [User]> {
  func updateRelationship(
    for userId: Int,
    to relationship: User.Relationship
  ) -> Self {
    self.map { page in
      var page = page
      page.value = page.value.map { user in
        var user = user
        if user.id == userId {
          user.relationship = relationship
        }
        return user
      }
      return page
    }
  }
}

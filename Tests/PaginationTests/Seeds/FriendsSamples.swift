import OperationCore
import OperationPagination
import OperationTesting
import Testing

// The samples of "Pattern Matching and State Management", with a server of the test.

struct User: Sendable {
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
  // The sample leaves the failure out, but Swift requires all primary associated types of a protocol, or none.
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
      try await fetchFriends(userId: userId, page: paging.pageId)
    }
  }

  /// The sample's first form, whose path is the request itself.
  struct HashableFriendsQuery: PaginatedRequest, Hashable {
    typealias PageID = Int
    typealias PageValue = [User]

    let userId: Int
    let initialPageId = 0

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
      try await fetchFriends(userId: userId, page: paging.pageId)
    }
  }
}

private func fetchFriends(userId: Int, page: Int) async throws -> [User] {
  (0..<3).map { User(id: page * 10 + $0, relationship: .notFriends) }
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

  fileprivate func relationship(of userId: Int) -> User.Relationship? {
    self.lazy.flatMap(\.value).first { $0.id == userId }?.relationship
  }
}

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct FriendsSamples {
  @Test
  func `One list is updated by its request`() async throws {
    let client = OperationClient()
    let query = User.HashableFriendsQuery(userId: 1)
    let store = client.store(for: query)
    #expect(store.path == [query])
    try await store.fetchNextPage()
    try await store.fetchNextPage()
    store.withExclusiveAccess { store in
      store.currentValue = store.currentValue.updateRelationship(
        for: 11,
        to: .friendRequestSent
      )
    }
    #expect(store.currentValue.relationship(of: 11) == .friendRequestSent)
    #expect(store.currentValue.relationship(of: 10) == .notFriends)
  }

  @Test
  func `All lists are updated by a part of their path`() async throws {
    let client = OperationClient()
    for id in 1...3 { try await client.store(for: User.friendsQuery(for: id)).fetchNextPage() }
    let stores = client.stores(
      matching: ["user-friends"],
      of: User.FriendsQuery.State.self
    )
    #expect(stores.count == 3)
    for store in stores {
      store.withExclusiveAccess { store in
        store.currentValue = store.currentValue.updateRelationship(
          for: 2,
          to: .friendRequestSent
        )
      }
    }
    for store in stores { #expect(store.currentValue.relationship(of: 2) == .friendRequestSent) }
  }

  @Test
  func `All lists are refetched by a part of their path`() async throws {
    let client = OperationClient()
    for id in 1...3 {
      let store = client.store(for: User.friendsQuery(for: id))
      try await store.fetchNextPage()
      store.currentValue = store.currentValue.updateRelationship(for: 2, to: .friends)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in client.stores(matching: ["user-friends"]) {
        group.addTask { try await store.fetch() }
      }
      try await group.waitForAll()
    }
    for store in client.stores(matching: ["user-friends"], of: User.FriendsQuery.State.self) {
      #expect(store.currentValue.relationship(of: 2) == .notFriends)
    }
  }
}

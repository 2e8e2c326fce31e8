import Operation
import TestFixtures
import Testing

@Suite(.bounded) struct FriendRequestSamples {
  private let server = SocialServer()
  private let client: OperationClient

  init() {
    var context = OperationContext()
    context.socialServer = self.server
    self.client = OperationClient(defaultContext: context)
  }

  @Test func `A direct update changes one list`() async throws {
    let (first, second) = try await self.loadTwoLists()

    try await self.client.store(for: DirectFriendRequest(listOwner: 1)).mutate(with: .init(userId: 2))

    expect(self.relationships(in: first), equals: [.notFriends, .friendRequestSent, .notFriends])
    expect(self.relationships(in: second), equals: [.notFriends, .notFriends, .notFriends])
  }

  @Test func `Pattern matching changes all lists`() async throws {
    let (first, second) = try await self.loadTwoLists()

    try await self.client.store(for: PatternFriendRequest()).mutate(with: .init(userId: 2))

    expect(self.relationships(in: first), equals: [.notFriends, .friendRequestSent, .notFriends])
    expect(self.relationships(in: second), equals: [.notFriends, .friendRequestSent, .notFriends])
  }

  @Test func `An optimistic update is undone by hand`() async throws {
    let (first, _) = try await self.loadTwoLists()
    await self.server.refuseRequests()

    await #expect(throws: SocialServer.Refusal.self) {
      try await self.client.store(for: OptimisticFriendRequest()).mutate(with: .init(userId: 2))
    }

    expect(self.relationships(in: first), equals: [.notFriends, .notFriends, .notFriends])
  }

  @Test func `An optimistic modifier undoes its update`() async throws {
    let (first, second) = try await self.loadTwoLists()
    let mutation = RefetchingFriendRequest()
      .optimistic(on: ["user-friends"], of: User.FriendsQuery.State.self) { pages, arguments in
        pages = pages.updateRelationship(for: arguments.userId, to: .friendRequestSent)
      }
    await self.server.refuseRequests()

    await #expect(throws: SocialServer.Refusal.self) {
      try await self.client.store(for: mutation).mutate(with: .init(userId: 2))
    }

    expect(self.relationships(in: first), equals: [.notFriends, .notFriends, .notFriends])
    expect(self.relationships(in: second), equals: [.notFriends, .notFriends, .notFriends])
  }

  @Test func `A refetch requests the lists from the server again`() async throws {
    let (first, second) = try await self.loadTwoLists()

    try await self.client.store(for: RefetchingFriendRequest()).mutate(with: .init(userId: 2))

    expect(self.relationships(in: first), equals: [.notFriends, .friendRequestSent, .notFriends])
    expect(self.relationships(in: second), equals: [.notFriends, .friendRequestSent, .notFriends])
    await expect(self.server.pagesServed, equals: 4)
  }

  private typealias FriendsStore = OperationStore<User.FriendsQuery.State>

  private func loadTwoLists() async throws -> (FriendsStore, FriendsStore) {
    let first = self.client.store(for: User.FriendsQuery(userId: 1))
    let second = self.client.store(for: User.FriendsQuery(userId: 2))
    try await first.fetchNextPage()
    try await second.fetchNextPage()
    return (first, second)
  }

  private func relationships(in store: FriendsStore) -> [User.Relationship] {
    store.currentValue.flatMap(\.value).map(\.relationship)
  }
}

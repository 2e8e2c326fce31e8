import OperationCore
import OperationMutation
import TestFixtures
import Testing

// The mutations of the reference documents, word for word.

private struct Post: Hashable, Sendable {
  let id: Int
  let title: String
}

extension Post {
  fileprivate static let createMutation = CreateMutation()

  fileprivate struct CreateMutation: MutationRequest, Hashable {
    struct Arguments: Sendable {
      let title: String
    }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Arguments,
      in context: OperationContext,
      with continuation: OperationContinuation<Post, any Error>
    ) async throws -> Post {
      Post(id: 1, title: arguments.title)
    }
  }
}

private struct SendFriendRequestMutation: MutationRequest, Hashable {
  typealias Value = Void

  struct Arguments: Sendable {
    let userId: Int
  }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    guard arguments.userId > 0 else { throw Refused() }
    guard let client = context.operationClient else { return }
    let stores = client.stores(matching: ["user-friends"], of: QueryState<[Int: String], any Error>.self)
    for store in stores {
      store.withExclusiveAccess { store in
        store.currentValue?[arguments.userId] = "friendRequestSent"
      }
    }
  }
}

private struct FriendsQuery: QueryRequest {
  let userId: Int

  var path: OperationPath { ["user-friends", self.userId] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int: String], any Error>
  ) async throws -> [Int: String] {
    [1: "notFriends", 2: "notFriends"]
  }
}

@Suite struct SampleTests {
  private static func opaque() -> some MutationRequest<Post.CreateMutation.Arguments, Post, any Error> {
    Post.createMutation.tryingAgain().maxHistory(length: 3).scope("posts")
  }

  @Test func `The mutation of the documents compiles, and is a mutation with modifiers too`() async throws {
    let client = OperationClient()
    let store = client.store(for: Self.opaque())
    let post = try await store.mutate(with: Post.CreateMutation.Arguments(title: "Hello"))
    #expect(post == Post(id: 1, title: "Hello"))
    #expect(try await store.retryLatest() == post)
    #expect(store.path == [Post.createMutation])
  }

  @Test func `A mutation without a value updates friends lists`() async throws {
    let client = OperationClient()
    let friends = client.store(for: FriendsQuery(userId: 7))
    try await friends.fetch()
    let store = client.store(for: SendFriendRequestMutation())

    try await store.mutate(with: .init(userId: 2))

    #expect(friends.currentValue == [1: "notFriends", 2: "friendRequestSent"])
    #expect(store.status.isSuccessful)
    try await store.retryLatest()
    await #expect(throws: Refused.self) { try await store.mutate(with: .init(userId: 0)) }
  }

  @Test func `An optimistic update of friends lists is removed when the mutation fails`() async throws {
    let client = OperationClient()
    let friends = client.store(for: FriendsQuery(userId: 7))
    try await friends.fetch()
    let mutation = SendFriendRequestMutation()
      .optimistic(on: ["user-friends"], of: QueryState<[Int: String], any Error>.self) { friends, arguments in
        friends?[arguments.userId] = "friendRequestSent"
      }
      .invalidates(matching: ["user-friends"])

    await #expect(throws: Refused.self) { try await client.store(for: mutation).mutate(with: .init(userId: 0)) }

    #expect(friends.currentValue == [1: "notFriends", 2: "notFriends"])
  }
}

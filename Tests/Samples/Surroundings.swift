public import Operation

// More declarations that the samples use.

/// A cache of posts.
public struct Cache: Sendable {
  public subscript(id: Int) -> Post? { sample() }
}

public let cache = Cache()

/// Work that a server does by itself.
public struct Job: Sendable {
  public var isDone: Bool
}

public struct Jobs: Sendable {
  public func job(_ id: Int) async throws -> Job { sample() }
}

public let jobs = Jobs()

public struct Profile: Sendable {
  public init(user: User, posts: [Post]) {}
}

public struct NoClient: Error {
  public init() {}
}

public func userQuery(_ id: Int) -> QueryOperation<User, any Error> {
  QueryOperation("users", id) { _ in try await api.user(id) }
}

public func postsQuery(by id: Int) -> QueryOperation<[Post], any Error> {
  QueryOperation("users", id, "posts") { _ in try await api.posts(by: id) }
}

public let selection: Int? = sample()
public let events = QueryEventHandler<PostQuery.State>()

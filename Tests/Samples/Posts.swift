public import Operation

// Declarations that the samples of the articles use. They are compiled and never run.

/// Makes a value that a sample needs, of any type.
public func sample<Value>(_ type: Value.Type = Value.self) -> Value {
  fatalError("Samples are compiled and never run.")
}

public struct Post: Hashable, Identifiable, Sendable, Codable {
  public var id: Int
  public var title: String
  public var isHidden = false
  public var isLiked = false
  public var isRead = false

  public init(id: Int, title: String) {
    self.id = id
    self.title = title
  }

  public init(draft title: String) {
    self.init(id: 0, title: title)
  }

  public func read() -> Post { self }
}

public struct Comment: Hashable, Identifiable, Sendable, Codable {
  public var id: Int
  public var text: String
}

public struct User: Hashable, Identifiable, Sendable, Codable {
  public var id: Int
  public var name: String
}

/// The server of the samples.
public struct Server: Sendable {
  public func post(_ id: Int) async throws -> Post { sample() }
  public func post(id: Int) async throws -> Post? { sample() }
  public func titles(with text: String) async throws -> [String] { sample() }
  public func posts(page: Int) async throws -> [Post] { sample() }
  public func posts(by user: Int) async throws -> [Post] { sample() }
  public func posts(after id: Int, limit: Int) async throws -> [Post] { sample() }
  public func posts(before id: Int, limit: Int) async throws -> [Post] { sample() }
  public func comments(on post: Int) async throws -> [Comment] { sample() }
  public func user(_ id: Int) async throws -> User { sample() }
  public func user(id: Int) async throws -> User { sample() }
  public func createPost(titled title: String) async throws -> Post { sample() }
  public func like(post: Int) async throws {}
  public func rename(post: Int, to title: String) async throws -> Post { sample() }
}

public let server = Server()
public let api = Server()

/// An error of a server.
public struct HTTPError: Error {
  public var status: Int
  public var isTemporary: Bool { status == 503 }
}

/// The query of all articles, as GettingStarted declares it.
public struct PostQuery: SimpleQueryRequest {
  public let id: Int

  public init(id: Int) {
    self.id = id
  }

  public var path: OperationPath { ["posts", self.id] }

  public func fetch(in context: OperationContext) async throws -> Post {
    try await api.post(self.id)
  }
}

public let client = OperationClient()
public let query = PostQuery(id: 1)
public let store = client.store(for: PostQuery(id: 1))

/// A condition of the samples.
public let isReady = AnySendableRunSpecification(AlwaysRunSpecification(isTrue: true))

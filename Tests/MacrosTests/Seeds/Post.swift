#if SwiftOperationMacros
  import Foundation
  import Operation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  // The reference document's first samples, word for word, with a session that answers without a network and a mock in
  // place of Apple's observer.

  struct Post: Hashable, Identifiable, Sendable, Codable {
    let id: Int
    var userId: Int
    var title: String
    var body: String
  }

  extension Post {
    static func query(for id: Int) -> some QueryRequest<Post?, any Error> {
      // The modifiers on the query are applied by default, they are
      // only being shown to demonstrate how to configure operations.
      Self.$query(for: id)
        .retry(limit: 3)
        .deduplicated()
        .rerunOnChange(of: .connected(to: MockNetworkObserver(initialStatus: .connected)))
    }

    @QueryRequest
    private static func query(for id: Int) async throws -> Post? {
      // swift-format-ignore: NeverForceUnwrap
      let url = URL(string: "https://dummyjson.com/posts/\(id)")!
      let (data, resp) = try await URLSession.shared.data(from: url)
      if (resp as? HTTPURLResponse)?.statusCode == 404 {
        return nil
      }
      return try JSONDecoder().decode(Post.self, from: data)
    }
  }

  extension Post {
    struct CreateArguments: Codable, Sendable {
      let userId: Int
      let title: String
      let body: String
    }

    @MutationRequest
    static func createMutation(arguments: CreateArguments) async throws -> Post {
      // swift-format-ignore: NeverForceUnwrap
      let url = URL(string: "https://dummyjson.com/posts/add")!
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.httpBody = try JSONEncoder().encode(arguments)
      request.addValue("application/json", forHTTPHeaderField: "Content-Type")
      let (data, _) = try await URLSession.shared.data(for: request)
      return try JSONDecoder().decode(Post.self, from: data)
    }
  }

  extension Post {
    @QueryRequest
    static func cachedQuery(
      id: Int,
      continuation: OperationContinuation<Post?, any Error>
    ) async throws -> Post? {
      async let post = Self.fetchPost(for: id)
      if let cached = try PostCache.shared.post(for: id) {
        continuation.yield(cached)
      }
      return try await post
    }

    private static func fetchPost(for id: Int) async throws -> Post? {
      Post(id: id, userId: 1, title: "Live", body: "")
    }
  }

  struct PostCache: Sendable {
    static let shared = PostCache()

    func post(for id: Int) throws -> Post? {
      Post(id: id, userId: 1, title: "From the cache", body: "")
    }
  }

  /// Replaces Foundation's session: it has post 1, and returns the posts that it is asked to create.
  struct URLSession: Sendable {
    static let shared = URLSession()

    func data(from url: URL) async throws -> (Data, URLResponse) {
      try await self.data(for: URLRequest(url: url))
    }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
      guard let url = request.url else { throw URLError(.badURL) }
      let isFound = url.lastPathComponent == "1" || request.httpMethod == "POST"
      let response = HTTPURLResponse(
        url: url,
        statusCode: isFound ? 200 : 404,
        httpVersion: nil,
        headerFields: ["Content-Type": "application/json"]
      )
      guard let response else { throw URLError(.badServerResponse) }
      return (isFound ? try self.body(for: request) : Data(), response)
    }

    private func body(for request: URLRequest) throws -> Data {
      guard let body = request.httpBody else {
        return try JSONEncoder().encode(Post(id: 1, userId: 1, title: "Title", body: "Body"))
      }
      let arguments = try JSONDecoder().decode(Post.CreateArguments.self, from: body)
      return try JSONEncoder().encode(
        Post(id: 101, userId: arguments.userId, title: arguments.title, body: arguments.body)
      )
    }
  }
#endif

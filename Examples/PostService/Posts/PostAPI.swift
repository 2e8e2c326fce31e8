package import Foundation
internal import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server, as plain async functions over `URLSession`: no retry, no sharing, no cache.
package struct PostAPI: Sendable {
  package let baseURL: URL
  package let sent = RequestLog()
  private let transport: URLSessionTransport

  /// - Parameters:
  ///   - baseURL: The address of the server.
  ///   - connections: How many requests can be under way at once; more wait in the session.
  ///   - timeout: How many seconds the session waits for an answer.
  package init(baseURL: URL, connections: Int = 6, timeout: Double = 5) {
    self.baseURL = baseURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = timeout
    self.transport = URLSessionTransport(configuration: configuration)
  }

  /// The post, or nil when the server says that there is none: a 404 is an answer, not a failure.
  package func post(id: Int) async throws -> Post? {
    do {
      return try await self.get(.post(id: id), path: "posts/\(id)", as: Post.self)
    } catch let refusal as OperationHTTPStatusError where refusal.status == 404 {
      return nil
    }
  }

  package func page(limit: Int, skip: Int) async throws -> PostPage {
    try await self.get(
      .feed,
      path: "posts",
      query: [
        URLQueryItem(name: "limit", value: "\(limit)"),
        URLQueryItem(name: "skip", value: "\(skip)"),
      ],
      as: PostPage.self
    )
  }

  package func author(id: Int) async throws -> Author {
    try await self.get(.author(id: id), path: "users/\(id)", as: Author.self)
  }

  /// The authors with these ids, in one request; those that the server does not know are missing.
  package func authors(ids: [Int]) async throws -> [Author] {
    let ids = URLQueryItem(name: "ids", value: ids.map(String.init).joined(separator: ","))
    return try await self.get(.authors, path: "users", query: [ids], as: AuthorList.self).users
  }

  package func add(_ draft: PostDraft) async throws -> Post {
    try await self.post(draft, as: .add, path: "posts/add", decoding: Post.self)
  }
}

extension PostAPI {
  func post<Value: Decodable>(
    _ body: some Encodable,
    as route: Route,
    path: String,
    decoding type: Value.Type
  ) async throws -> Value {
    let request = try OperationHTTPRequest(self.baseURL.appending(path: path), json: body)
    return try await self.send(request, as: route, decoding: type)
  }

  func get<Value: Decodable>(
    _ route: Route,
    path: String,
    query: [URLQueryItem] = [],
    as type: Value.Type
  ) async throws -> Value {
    var url = self.baseURL.appending(path: path)
    if !query.isEmpty {
      url.append(queryItems: query)
    }
    return try await self.send(OperationHTTPRequest(url), as: route, decoding: type)
  }

  private func send<Value: Decodable>(
    _ request: OperationHTTPRequest,
    as route: Route,
    decoding type: Value.Type
  ) async throws -> Value {
    self.sent.record(route)
    return try await self.transport.send(request).successful().decoded(as: type)
  }
}

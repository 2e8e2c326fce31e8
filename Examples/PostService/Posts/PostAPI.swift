package import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The remote, as plain async functions over `URLSession`: no retry, no sharing, no cache.
package struct PostAPI: Sendable {
  package let baseURL: URL
  package let sent = RequestLog()
  private let session: URLSession

  package init(baseURL: URL) {
    self.baseURL = baseURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = 5
    self.session = URLSession(configuration: configuration)
  }

  /// The post, or nil when the server says that there is none: a 404 is an answer, not a failure.
  package func post(id: Int) async throws -> Post? {
    do {
      return try await self.get(.post(id: id), path: "posts/\(id)", as: Post.self)
    } catch let refusal as HTTPRefusal where refusal.status == 404 {
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

  package func add(_ draft: PostDraft) async throws -> Post {
    var request = URLRequest(url: self.baseURL.appending(path: "posts/add"))
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode(draft)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return try await self.send(request, as: .add, decoding: Post.self)
  }
}

extension PostAPI {
  private func get<Value: Decodable>(
    _ route: Route,
    path: String,
    query: [URLQueryItem] = [],
    as type: Value.Type
  ) async throws -> Value {
    var url = self.baseURL.appending(path: path)
    if !query.isEmpty {
      url.append(queryItems: query)
    }
    return try await self.send(URLRequest(url: url), as: route, decoding: type)
  }

  private func send<Value: Decodable>(
    _ request: URLRequest,
    as route: Route,
    decoding type: Value.Type
  ) async throws -> Value {
    self.sent.record(route)
    let (data, response) = try await self.session.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard (200..<300).contains(status) else {
      throw HTTPRefusal(status: status, data: data)
    }
    return try JSONDecoder().decode(type, from: data)
  }
}

import Foundation
import Operation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The functions that send requests to the upstream server: no retry, no sharing, no cache.
struct ArticleAPI: Sendable {
  struct Refusal: Error {
    let status: Int
  }

  let address: URL
  let session: URLSession

  func get(_ path: String) async throws -> String {
    try await self.send(URLRequest(url: self.address.appending(path: path)))
  }

  func post(_ path: String) async throws -> String {
    var request = URLRequest(url: self.address.appending(path: path))
    request.httpMethod = "POST"
    return try await self.send(request)
  }

  private func send(_ request: URLRequest) async throws -> String {
    let (data, response) = try await self.session.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw Refusal(status: status) }
    return String(decoding: data, as: UTF8.self)
  }
}

struct ArticleQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await context.articles.get("articles/\(self.id)")
  }
}

struct RelatedQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await context.articles.get("articles/\(self.id)/related")
  }
}

struct LikeArticle: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with id: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await context.articles.post("articles/\(id)/likes")
  }
}

extension OperationContext {
  var articles: ArticleAPI {
    get {
      guard let articles = self[ArticlesKey.self] else { fatalError("The client has no upstream.") }
      return articles
    }
    set { self[ArticlesKey.self] = newValue }
  }

  private enum ArticlesKey: Key {
    static let defaultValue: ArticleAPI? = nil
  }
}

import Foundation
import Operation
import OperationHTTP

/// The functions that send requests to the upstream server: no retry, no sharing, no cache.
struct ArticleAPI: Sendable {
  struct Refusal: Error {
    let status: Int
  }

  let address: URL
  let transport: URLSessionTransport

  func get(
    _ path: String,
    in context: OperationContext
  ) async throws -> (text: String, freshness: OperationHTTPFreshness) {
    try await self.send("GET", path, in: context)
  }

  func post(_ path: String, in context: OperationContext) async throws -> String {
    try await self.send("POST", path, in: context).text
  }

  private func send(
    _ method: String,
    _ path: String,
    in context: OperationContext
  ) async throws -> (text: String, freshness: OperationHTTPFreshness) {
    // The upstream learns how long the visitor still waits, and how urgent it is.
    let fields = OperationHTTPFields(context.callHeaderFields())
    let request = OperationHTTPRequest(self.address.appending(path: path), method: method, fields: fields)
    let response = try await self.transport.send(request)
    guard response.status == 200 else { throw Refusal(status: response.status) }
    // The upstream does not know of the clock that the story moves.
    let answered = response.fields.filter { $0.name.lowercased() != "date" }.map { ($0.name, $0.value) }
    // The front answers all visitors with one article.
    let freshness = OperationHTTPFreshness(headerFields: answered, isShared: true)
    return (String(decoding: try await response.data(), as: UTF8.self), freshness)
  }
}

struct ArticleQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    let (text, freshness) = try await context.articles.get("articles/\(self.id)", in: context)
    context.freshness = freshness
    return text
  }
}

struct RelatedQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await context.articles.get("articles/\(self.id)/related", in: context).text
  }
}

struct LikeArticle: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with id: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await context.articles.post("articles/\(id)/likes", in: context)
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

import Foundation
import Operation
import Requests

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
    var request = URLRequest(url: self.address.appending(path: path))
    request.httpMethod = method
    // The upstream learns how long the visitor still waits, and how urgent it is.
    for (name, value) in context.callHeaderFields() { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await self.session.response(to: request)
    guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
      throw Refusal(status: (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
    let fields = response.allHeaderFields.compactMap { name, value in
      (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
    }
    .filter { name, _ in name.lowercased() != "date" }  // The upstream does not know of the clock that the story moves.
    // The front answers all visitors with one article.
    return (String(decoding: data, as: UTF8.self), OperationHTTPFreshness(headerFields: fields, isShared: true))
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

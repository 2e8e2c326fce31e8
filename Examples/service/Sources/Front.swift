import Foundation
import HTTPTypes
import Hummingbird
import Operation
import Tracing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Where an answer comes from, as its header says.
enum Answer: String {
  static let header = "X-Answer"

  /// From the upstream, now or a short time ago.
  case fresh
  /// The last one that the upstream gave, as it gives none now.
  case stale
  /// From the upstream, or empty.
  case fetched
}

/// The service in front: it answers from its client, and sends as few requests as it can to the upstream server.
struct Front: Sendable {
  let client: OperationClient
  let breaker: CircuitBreaker
  let listening = Listening()

  /// - Parameters:
  ///   - upstream: The address of the upstream server.
  ///   - session: Sends the requests to the upstream server.
  ///   - minimumRuns: The number of calls of the upstream server after which the breaker may open.
  init(upstream: URL, session: URLSession, minimumRuns: Int) {
    self.breaker = CircuitBreaker(
      name: "articles",
      failureRatio: 0.6,
      minimumRuns: minimumRuns,
      // Longer than the deadline of a run, so that no retry waits until the breaker lets it through.
      openFor: .constant(.seconds(6))
    )
    // A server has its network, and is never in the background.
    self.client = OperationClient(storeCreator: .default(retryLimit: 0, networkObserver: nil, activityObserver: nil))
    self.client.defaultContext.articles = ArticleAPI(address: upstream, session: session)
    self.client.measureOperations()
    self.client.traceOperations()
    self.client.logNotices()
  }

  /// The query with the modifiers of all queries. The client lets concurrent callers share a run.
  func resilient<Query: QueryRequest>(_ query: Query) -> some QueryRequest<Query.Value, any Error> & Sendable
  where Query.Failure == any Error, Query: Sendable, Query.State == QueryState<Query.Value, any Error> {
    query
      .timeout(.seconds(1))
      .circuitBreaker(self.breaker)
      .retry(limit: 1)
      .backoff(.constant(.milliseconds(20)))
      .deadline(after: .milliseconds(2_500))
      .stale(after: .seconds(60))
  }
}

// MARK: - Routes

extension Front {
  var application: some ApplicationProtocol {
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.add(middleware: MetricsMiddleware())
    router.get("articles/{id}") { _, context in
      try await self.article(try context.parameters.require("id", as: Int.self))
    }
    router.get("articles/{id}/related") { _, context in
      try await self.related(try context.parameters.require("id", as: Int.self))
    }
    router.post("articles/{id}/likes") { _, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.client.store(for: LikeArticle()).mutate(with: id)
    }
    return self.listening.application(router: router, name: "front")
  }

  /// The article; the last known one if the upstream gives none now.
  private func article(_ id: Int) async throws -> Response {
    let query = self.resilient(ArticleQuery(id: id))
    do {
      return Self.response(try await self.client.ensureValue(for: query), .fresh)
    } catch {
      guard let known = self.client.store(for: query).currentValue else { throw Self.refusal(after: error) }
      return Self.response(known, .stale)
    }
  }

  /// The related articles; none if the upstream gives none now.
  private func related(_ id: Int) async throws -> Response {
    let query = self.resilient(RelatedQuery(id: id)).fallback("")
    return Self.response(try await self.client.store(for: query).fetch(), .fetched)
  }

  private static func response(_ text: String, _ answer: Answer) -> Response {
    var headers: HTTPFields = [.contentType: "text/plain"]
    if let name = HTTPField.Name(Answer.header) { headers[name] = answer.rawValue }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  private static func refusal(after error: any Error) -> HTTPError {
    guard let wait = (error as? CircuitOpen)?.retryAfter else { return HTTPError(.badGateway) }
    let seconds = Int((wait / .seconds(1)).rounded(.up))
    return HTTPError(.serviceUnavailable, headers: [.retryAfter: "\(seconds)"])
  }
}

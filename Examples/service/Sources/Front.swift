import Foundation
import HTTPTypes
import Hummingbird
import Operation
import Synchronization
import Tracing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Where an answer comes from, as its header says.
enum Answer: String {
  static let header = "X-Answer"

  /// From the upstream, now or as long ago as that permits.
  case fresh
  /// The last one that the upstream gave, as it gives none now, or not in time.
  case stale
  /// From the upstream, or empty.
  case fetched
}

/// The service in front: it answers from its client, and sends as few requests as it can to the upstream server.
struct Front: Sendable {
  let client: OperationClient
  let breaker: CircuitBreaker
  /// The time by which articles become stale, which the story moves on.
  let clock = MovedClock()
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
    self.client.defaultContext.operationClock = self.clock
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
  }

  /// The query of an article. The upstream says by `Cache-Control` how long it is fresh, and whether it may be used
  /// after that while there is no newer one. A visitor waits half a second for the newer one.
  func article(_ id: Int) -> some QueryRequest<String, any Error> & Sendable {
    self.resilient(ArticleQuery(id: id).honoringFreshness())
      .servesStale(after: .milliseconds(500), for: .seconds(600))
  }
}

// MARK: - Routes

extension Front {
  var application: some ApplicationProtocol {
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.add(middleware: MetricsMiddleware())
    router.get("articles/{id}") { _, context in
      try await self.answer(with: try context.parameters.require("id", as: Int.self))
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

  /// The article; the last known one if the upstream gives none now and permits that.
  private func answer(with id: Int) async throws -> Response {
    let query = self.article(id)
    do {
      let text = try await self.client.ensureValue(for: query)
      return Self.response(text, self.client.store(for: query).isStale ? .stale : .fresh)
    } catch {
      throw Self.refusal(after: error)
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

// MARK: - Time

/// The system's time, and what the story has added to it.
final class MovedClock: OperationClock, Sendable {
  private let added = Mutex(TimeInterval(0))

  func now() -> Date { Date() + self.added.withLock { $0 } }

  /// Lets an amount of time pass at once, in seconds.
  func move(by seconds: TimeInterval) { self.added.withLock { $0 += seconds } }
}

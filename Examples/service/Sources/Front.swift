import Foundation
import HTTPTypes
import Hummingbird
import Operation
import OperationHTTP
import Synchronization
import Tracing

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
  /// How many requests are with the upstream at once, and how many wait for their turn.
  let limit = ConcurrencyLimit(4, queue: 4, name: "articles")
  /// The time by which articles become stale, which the story moves on.
  let clock = MovedClock()
  let listening = Listening()

  /// - Parameters:
  ///   - upstream: The address of the upstream server.
  ///   - transport: Sends the requests to the upstream server.
  ///   - minimumRuns: The number of calls of the upstream server after which the breaker may open.
  init(upstream: URL, transport: URLSessionTransport, minimumRuns: Int) {
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
    self.client.defaultContext.articles = ArticleAPI(address: upstream, transport: transport)
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
      .limited(by: self.limit)
      .retry(limit: 1)
      .backoff(.constant(.milliseconds(20)))
      .deadline(after: .milliseconds(2_500))
  }

  /// The query of an article. The upstream says by `Cache-Control` how long it is fresh, and whether it may be used
  /// after that while there is no newer one. A visitor waits half a second for the newer one.
  func article(_ id: Int) -> some QueryRequest<String, any Error> & Sendable {
    self.resilient(ArticleQuery(id: id).honoringFreshness())
      .servesStale(softTimeout: .milliseconds(500), maximumAge: .seconds(600))
  }
}

// MARK: - Routes

extension Front {
  var application: some ApplicationProtocol {
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.add(middleware: MetricsMiddleware())
    router.get("articles/{id}") { request, context in
      try await self.answer(with: try context.parameters.require("id", as: Int.self), in: .call(of: request))
    }
    router.get("articles/{id}/related") { request, context in
      try await self.related(try context.parameters.require("id", as: Int.self), in: .call(of: request))
    }
    router.post("articles/{id}/likes") { request, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.like(id, in: .call(of: request))
    }
    return self.listening.application(router: router, name: "front")
  }

  /// The article; the last known one if the upstream gives none now and permits that.
  private func answer(with id: Int, in context: OperationContext) async throws -> Response {
    let store = self.client.store(for: self.article(id))
    if !store.isStale, let text = store.currentValue { return Self.response(text, .fresh) }
    do {
      let text = try await store.fetch(using: context)
      return Self.response(text, store.isStale ? .stale : .fresh)
    } catch {
      throw Self.refusal(after: error)
    }
  }

  /// The related articles; none if the upstream gives none now.
  private func related(_ id: Int, in context: OperationContext) async throws -> Response {
    let query = self.resilient(RelatedQuery(id: id)).fallback("")
    return Self.response(try await self.client.store(for: query).fetch(using: context), .fetched)
  }

  private func like(_ id: Int, in context: OperationContext) async throws -> String {
    do {
      return try await self.client.store(for: LikeArticle().deadline()).mutate(with: id, using: context)
    } catch {
      throw Self.refusal(after: error)
    }
  }

  private static func response(_ text: String, _ answer: Answer) -> Response {
    var headers: HTTPFields = [.contentType: "text/plain"]
    if let name = HTTPField.Name(Answer.header) { headers[name] = answer.rawValue }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  private static func refusal(after error: any Error) -> HTTPError {
    switch error {
    case let error as CircuitOpen:
      guard let wait = error.retryAfter else { return HTTPError(.serviceUnavailable) }
      let seconds = Int((wait / .seconds(1)).rounded(.up))
      return HTTPError(.serviceUnavailable, headers: [.retryAfter: "\(seconds)"])
    case is OperationRejected: return HTTPError(.serviceUnavailable)
    case is OperationTimedOut: return HTTPError(.gatewayTimeout)
    default: return HTTPError(.badGateway)
    }
  }
}

// MARK: - Calls

extension OperationContext {
  /// What a request says about its caller: how long it waits, and how urgent it is.
  static func call(of request: Request) -> OperationContext {
    var context = OperationContext()
    context.readCallHeaderFields(request.headers.map { (key: $0.name.rawName, value: $0.value) })
    // What a visitor does not wait for, such as a page that is loaded ahead, goes first when there is too much to do.
    if let priority = context.operationTaskConfiguration.priority, priority <= .low {
      context.operationCriticality = .sheddable
    }
    return context
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

import Hummingbird
import Operation
import ServiceLifecycle
import Synchronization

/// The upstream server: it has articles, counts its requests, and behaves as the story says.
final class Upstream: Sendable {
  /// How the upstream answers.
  enum Mood: Sendable {
    /// Each request at once.
    case well
    /// The first request for each article with 503.
    case flaky
    /// Nothing in time.
    case slow
    /// Each request with 503.
    case down
    /// Each request when the story says so.
    case held
  }

  private struct State {
    var mood = Mood.well
    var refused: Set<Int> = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    var priorities: [Int: TaskPriority] = [:]
  }

  /// An article that nobody may use when it is stale. The others may be used for ten minutes if there is no newer one.
  static let strictArticle = 13

  private let state = Mutex(State())
  let listening = Listening()
  /// The requests that have come.
  let requests = Counter()
  /// The requests that were not begun, because their callers had gone when it was their turn.
  let unbegun = Counter()

  /// How many requests have come.
  var requestCount: Int { self.requests.count }

  /// The priority that the last request for an article asked for; nil for the usual one.
  func priority(of id: Int) -> TaskPriority? { self.state.withLock { $0.priorities[id] } }

  var application: some ApplicationProtocol {
    let router = Router()
    router.get("articles/{id}") { request, context in
      let id = try context.parameters.require("id", as: Int.self)
      let article = try await self.answer(to: id, .call(of: request)) { "Article \(id)" }
      let rule = id == Self.strictArticle ? "must-revalidate" : "stale-if-error=600"
      return Response(
        status: .ok,
        headers: [.cacheControl: "max-age=60, \(rule)"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: article))
      )
    }
    router.get("articles/{id}/related") { request, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.answer(to: id, .call(of: request)) { "\(id + 1),\(id + 2)" }
    }
    router.post("articles/{id}/likes") { request, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.answer(to: id, .call(of: request)) { "liked" }
    }
    return self.listening.application(router: router, name: "upstream")
  }

  private func answer(to id: Int, _ call: OperationContext, _ text: () -> String) async throws -> String {
    let mood = self.state.withLock { state in
      state.priorities[id] = call.operationTaskConfiguration.priority
      return state.mood
    }
    self.requests.increment()
    switch mood {
    case .well: break
    case .flaky where self.state.withLock({ $0.refused.insert(id).inserted }), .down:
      throw HTTPError(.serviceUnavailable)
    case .flaky: break
    case .slow: try await Task.sleep(for: .seconds(4))
    case .held: await withCheckedContinuation { continuation in self.hold(continuation) }
    }
    // It is its turn now. Nobody reads the answer to a caller that has gone.
    if let remaining = call.operationTimeRemaining, remaining <= .zero {
      self.unbegun.increment()
      throw HTTPError(.gatewayTimeout)
    }
    return text()
  }
}

// MARK: - The story's side

extension Upstream {
  /// Changes how the upstream server answers, and releases the requests that it holds.
  func become(_ mood: Mood) {
    let waiting = self.state.withLock { state in
      state.mood = mood
      state.refused = []
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func hold(_ continuation: CheckedContinuation<Void, Never>) {
    let isHeld = self.state.withLock { state in
      guard state.mood == .held else { return false }
      state.waiting.append(continuation)
      return true
    }
    if !isHeld { continuation.resume() }
  }
}

import Hummingbird
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
    var requestCount = 0
    var refused: Set<Int> = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// An article that nobody may use when it is stale. The others may be used for ten minutes if there is no newer one.
  static let strictArticle = 13

  private let state = Mutex(State())
  let listening = Listening()

  /// How many requests have come.
  var requestCount: Int { self.state.withLock { $0.requestCount } }

  var application: some ApplicationProtocol {
    let router = Router()
    router.get("articles/{id}") { _, context in
      let id = try context.parameters.require("id", as: Int.self)
      let article = try await self.answer(to: id) { "Article \(id)" }
      let rule = id == Self.strictArticle ? "must-revalidate" : "stale-if-error=600"
      return Response(
        status: .ok,
        headers: [.cacheControl: "max-age=60, \(rule)"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: article))
      )
    }
    router.get("articles/{id}/related") { _, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.answer(to: id) { "\(id + 1),\(id + 2)" }
    }
    router.post("articles/{id}/likes") { _, context in
      let id = try context.parameters.require("id", as: Int.self)
      return try await self.answer(to: id) { "liked" }
    }
    return self.listening.application(router: router, name: "upstream")
  }

  private func answer(to id: Int, _ text: () -> String) async throws -> String {
    let mood = self.begin()
    switch mood {
    case .well: break
    case .flaky where self.state.withLock({ $0.refused.insert(id).inserted }), .down:
      throw HTTPError(.serviceUnavailable)
    case .flaky: break
    case .slow: try await Task.sleep(for: .seconds(4))
    case .held: await withCheckedContinuation { continuation in self.hold(continuation) }
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

  /// Waits until so many requests have come.
  func arrivals(count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = self.state.withLock { state in
        if state.requestCount < count { state.arrivals.append((count, continuation)) }
        return state.requestCount >= count
      }
      if isThere { continuation.resume() }
    }
  }

  private func begin() -> Mood {
    let (mood, reached) = self.state.withLock { state in
      state.requestCount += 1
      let count = state.requestCount
      let reached = state.arrivals.filter { $0.count <= count }
      state.arrivals.removeAll { $0.count <= count }
      return (state.mood, reached)
    }
    for arrival in reached { arrival.continuation.resume() }
    return mood
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

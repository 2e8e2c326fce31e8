import Operation
import Synchronization

/// The upstream: slots that each work on one request at a time, and a line in front of them without an end.
///
/// It is computed and not worked: when a request comes, it is known which slot will be free first, so it is known when
/// the request begins and ends. The capacity is thus the same on a busy machine. Like many servers, it does not hear that
/// a caller has gone. It reads deadlines, where a request has one, and does not begin what nobody waits for then.
final class Upstream: Sendable {
  static let slotCount = 20
  static let shardCount = 4
  /// The usual time for a request is between these, and 200 ms on average.
  private static let milliseconds = 100...300
  static let capacityPerSecond = Double(slotCount) / 0.2

  struct Refusal: Error {
    let status: Int
  }

  private struct State {
    /// When each slot will be free, from the start.
    var free = [Duration](repeating: .zero, count: Upstream.slotCount)
    var random = Random(seed: 9)
    var requests: [Request] = []
    /// How many requests were not begun because their callers had gone.
    var unbegunCount = 0
    /// How many requests were worked on for a caller who had gone, or who would wait no longer.
    var wastedCount = 0
  }

  struct Request: Sendable {
    let time: Duration
    /// The request of a visitor for which it was sent.
    let id: String
  }

  private enum Course {
    case refused
    case unbegun(at: Duration)
    case answered(at: Duration)
  }

  private let start: ContinuousClock.Instant
  private let state = Mutex(State())

  init(start: ContinuousClock.Instant) {
    self.start = start
  }

  var requests: [Request] { self.state.withLock { $0.requests } }
  var unbegunCount: Int { self.state.withLock { $0.unbegunCount } }
  var wastedCount: Int { self.state.withLock { $0.wastedCount } }

  static func shard(of article: Article) -> Int { article.number % self.shardCount }

  /// Returns the text of an article. Of the header fields, `X-Request-ID` is the visitor's.
  func get(_ article: Article, headers: [String: String]) async throws -> String {
    var context = OperationContext()
    context.readCallHeaderFields(headers)
    let now = self.start.duration(to: .now)
    let course = self.begin(article, id: headers["X-Request-ID"] ?? "", now, context.operationTimeRemaining)
    switch course {
    case .refused:
      try await self.sleep(until: now + .milliseconds(20))
      throw Refusal(status: 503)
    case .unbegun(let time):
      try await self.sleep(until: time)
      throw Refusal(status: 504)
    case .answered(let time):
      do {
        try await self.sleep(until: time)
      } catch {
        self.state.withLock { $0.wastedCount += 1 }
        throw error
      }
      return article.text
    }
  }

  private func begin(_ article: Article, id: String, _ now: Duration, _ remaining: Duration?) -> Course {
    self.state.withLock { state in
      state.requests.append(Request(time: now, id: id))
      if Phase.at(now).failingShards.contains(Self.shard(of: article)) { return .refused }
      let slot = state.free.indices.min { state.free[$0] < state.free[$1] } ?? 0
      let begin = max(now, state.free[slot])
      if let remaining, begin >= now + remaining {
        state.unbegunCount += 1
        return .unbegun(at: now + remaining)
      }
      let usual = Double(Int.random(in: Self.milliseconds, using: &state.random))
      let end = begin + .milliseconds(Int(usual * Phase.at(begin).slowness))
      state.free[slot] = end
      return .answered(at: end)
    }
  }

  private func sleep(until time: Duration) async throws {
    try await Task.sleep(until: self.start + time)
  }
}

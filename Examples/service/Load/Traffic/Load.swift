import Operation
import Synchronization

/// A service, and the upstream that it alone uses.
struct Side: Sendable {
  let service: any ArticleService
  let upstream: Upstream
  /// Whether the greedy tenant is not there while it is greedy.
  var isSpared = false

  func gets(_ arrival: Arrival) -> Bool {
    !self.isSpared || arrival.tenant != Arrival.greedyTenant || Phase.at(arrival.time) != .greedy
  }
}

/// Plays the same requests to several services.
struct Load: Sendable {
  let arrivals: [Arrival]

  /// Returns the calls of each service.
  func play(on sides: [Side], from start: ContinuousClock.Instant) async throws -> [Recording] {
    let logs = sides.map { _ in CallLog() }
    try await withThrowingTaskGroup { group in
      for arrival in self.arrivals {
        // The requests do not wait for each other.
        try await Task.sleep(until: start + arrival.time)
        for (side, log) in zip(sides, logs) where side.gets(arrival) {
          group.addTask { log.append(await side.service.call(arrival, since: start)) }
        }
      }
      // Who waits longer than any visitor is cut off.
      try await Task.sleep(until: start + .seconds(Phase.totalSeconds) + Arrival.patience)
      group.cancelAll()
    }
    return zip(sides, logs).map { side, log in
      Recording(calls: log.calls, requests: side.upstream.requests)
    }
  }
}

extension ArticleService {
  fileprivate func call(_ arrival: Arrival, since start: ContinuousClock.Instant) async -> Call {
    // What a visitor sends: who it is, and how long it waits, of which the time on the way is gone.
    var context = OperationContext()
    context.operationDeadline = start + arrival.time + Arrival.patience
    let headers = context.callHeaderFields().merging(
      ["X-Request-ID": "\(arrival.number)", "X-Tenant": "tenant-\(arrival.tenant)"],
      uniquingKeysWith: { $1 }
    )
    let outcome: Call.Outcome
    do {
      let text = try await self.answer(arrival.article, headers: headers)
      outcome = text == arrival.article.text ? .answered : .wrong
    } catch {
      // Rejected unless an attempt has reached the upstream.
      outcome = (error as? any LocalRejection).map { !$0.hasBegun } == true ? .rejected : .failed
    }
    return Call(arrival: arrival, latency: (start + arrival.time).duration(to: .now), outcome: outcome)
  }
}

private final class CallLog: Sendable {
  private let state = Mutex<[Call]>([])

  var calls: [Call] { self.state.withLock { $0 } }

  func append(_ call: Call) {
    self.state.withLock { $0.append(call) }
  }
}

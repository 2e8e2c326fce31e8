import PostService
import Synchronization

/// A client and a server of its own, so that the requests of one client do not slow the other down.
struct Side: Sendable {
  let server: PostServer
  let posts: any PostSource
}

/// Plays the same calls on several sides, while their servers go through the same phases.
struct Scenario: Sendable {
  static let callsPerSecond = 60
  static let postCount = 30

  /// The posts that are asked for: each once, then some more often than others.
  ///
  /// The numbers are the same in each run of the program.
  static var postIDs: [Int] {
    var state: UInt64 = 18
    return (1...(self.callsPerSecond * Phase.totalSeconds)).map { number in
      guard number > self.postCount else { return number }
      // The multiplier of D. Knuth's MMIX; its upper bits are the random ones.
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let share = Double(state >> 40) / Double(1 << 24)
      return 1 + Int(Double(self.postCount) * share * share)
    }
  }

  /// Returns the outcomes of the calls on each side, and the requests at its server.
  func play(on sides: [Side]) async throws -> [Recording] {
    let start = ContinuousClock.now
    let calls = sides.map { _ in CallLog() }
    for side in sides { side.server.log.removeAll() }
    try await withThrowingTaskGroup { group in
      group.addTask { try await self.changePhases(of: sides.map(\.server), from: start) }
      for (number, id) in Self.postIDs.enumerated() {
        // The calls do not wait for each other, as those of many users do not.
        try await Task.sleep(until: start + .seconds(Double(number) / Double(Self.callsPerSecond)))
        for (side, log) in zip(sides, calls) {
          group.addTask { log.append(await side.call(id, since: start)) }
        }
      }
      try await group.waitForAll()
    }
    return zip(sides, calls).map { side, log in
      Recording(calls: log.calls, requests: side.server.log.times.map { start.duration(to: $0) })
    }
  }

  private func changePhases(of servers: [PostServer], from start: ContinuousClock.Instant) async throws {
    for phase in Phase.allCases {
      try await Task.sleep(until: start + .seconds(phase.range.lowerBound))
      for server in servers { server.script.begin(phase.condition) }
    }
  }
}

extension Side {
  fileprivate func call(_ id: Int, since start: ContinuousClock.Instant) async -> Call {
    let begin = ContinuousClock.now
    let outcome: Call.Outcome
    do {
      let answer = try await self.posts.post(id: id)
      outcome = answer.post?.id != id ? .wrong : answer.isFallback ? .fallback : .fresh
    } catch {
      outcome = .failed
    }
    return Call(start: start.duration(to: begin), latency: begin.duration(to: .now), outcome: outcome)
  }
}

private final class CallLog: Sendable {
  private let state = Mutex<[Call]>([])

  var calls: [Call] { self.state.withLock { $0 } }

  func append(_ call: Call) {
    self.state.withLock { $0.append(call) }
  }
}

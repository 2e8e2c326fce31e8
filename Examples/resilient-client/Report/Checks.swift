import Operation
import PostService

/// What the curves have to look like. They are judged by counts and by large ratios, so that a busy machine does not
/// change the verdict.
struct Checks {
  private(set) var lines: [String] = []
  private(set) var wrongCount = 0

  init(bare: Recording, resilient: Recording, client: ResilientPosts?) {
    self.checkAnswers(bare, resilient)
    self.checkLoad(bare, resilient)
    self.checkRecovery(resilient)
    if let client {
      self.checkCounts(client)
    } else {
      self.check("a client with everything on was compared", false, "no")
    }
  }

  private mutating func check(_ claim: String, _ holds: Bool, _ found: String) {
    self.lines.append("\(holds ? "ok   " : "wrong") \(claim): \(found)")
    if !holds { self.wrongCount += 1 }
  }

  private mutating func checkAnswers(_ bare: Recording, _ resilient: Recording) {
    let wrong = (bare.calls + resilient.calls).count { $0.outcome == .wrong }
    self.check("no caller gets another post", wrong == 0, "\(wrong)")
    for (name, side) in [("bare", bare), ("all on", resilient)] {
      let share = side[.healthy].fresh ?? 0
      self.check("a healthy server answers at least 75 % in time, \(name)", share >= 0.75, percent(share))
    }
    let latencies = [bare, resilient].map { $0[.slow].latency(quantile: 0.95) ?? .seconds(60) }
    self.check(
      "with a slow server, the p95 is at most three quarters of the bare one",
      latencies[1] <= latencies[0] * 0.75,
      "\(milliseconds(latencies[1])), bare \(milliseconds(latencies[0]))"
    )
    for (phase, bareLimit) in [(Phase.overloaded, 0.6), (.down, 0.1)] {
      let shares = [bare, resilient].map { $0[phase].inTime ?? 0 }
      let found = "\(percent(shares[1])), bare \(percent(shares[0]))"
      self.check("\(phase.rawValue), at least 90 % of the calls are answered in time", shares[1] >= 0.9, found)
      self.check("\(phase.rawValue), at most \(percent(bareLimit)) are without it", shares[0] <= bareLimit, found)
    }
    let fresh = resilient[.overloaded].calls.count { $0.isInTime && $0.outcome == .fresh }
    let bareFresh = bare[.overloaded].calls.count(where: \.isInTime)
    self.check(
      "an overloaded server answers more calls in time than those of the bare client",
      fresh > bareFresh,
      "\(fresh), bare \(bareFresh)"
    )
  }

  private mutating func checkLoad(_ bare: Recording, _ resilient: Recording) {
    // The breaker opens when half of the runs of its second have failed, and then admits one probe at a time.
    let counts = [bare, resilient].map { $0[.down].requests.count }
    self.check(
      "a server that is down gets at most 60 requests, and a third of the bare ones",
      counts[1] <= min(60, counts[0] / 3),
      "\(counts[1]), bare \(counts[0])"
    )
  }

  private mutating func checkRecovery(_ resilient: Recording) {
    let calls = resilient[.recovered].calls.sorted { $0.start < $1.start }
    let fresh = calls.first { $0.outcome == .fresh }
    let delay = fresh.map { $0.start + $0.latency - .seconds(Phase.recovered.range.lowerBound) }
    self.check(
      "the first answer of the server comes at most 2.5 s after its return",
      delay.map { $0 <= .milliseconds(2500) } ?? false,
      milliseconds(delay)
    )
    let end = Phase.totalSeconds
    let share = resilient[.seconds(end - 1)..<(.seconds(end))].fresh ?? 0
    self.check("in the last second, the server answers at least 75 %", share >= 0.75, percent(share))
  }

  private mutating func checkCounts(_ client: ResilientPosts) {
    let (runs, attempts) = (client.runs.count, client.attempts.count)
    let reserve = client.budget.minimumPerSecond * Double(Phase.totalSeconds + 2)
    let bound = Int(Double(runs) * (1 + client.budget.ratio) + reserve)
    self.check("retries and hedges stay within the budget", attempts <= bound, "\(attempts) of \(bound) attempts")
    let calls = Scenario.postIDs.count
    self.check("callers share runs", runs < calls, "\(runs) runs for \(calls) calls")
    let snapshot = client.breaker.snapshot()
    self.check("the breaker opened", snapshot.trips >= 1, "\(snapshot.trips) times")
    self.check("the breaker is closed at the end", client.breaker.state == .closed, "\(client.breaker.state)")
    self.check(
      "no permit is left",
      client.limit.activeCount + client.limit.waitingCount == 0,
      "\(client.limit.activeCount)"
    )
    for (name, notice) in Self.events {
      self.check("there were \(name)", client.notices[notice] > 0, "\(client.notices[notice])")
    }
  }

  private static let events: [(String, OperationNotice.Name)] = [
    ("hedges", .hedgeStarted), ("rejections by the limit", .limitRejected), ("fallbacks", .fellBack),
  ]
}

/// One request of a visitor, and its outcome.
struct Call: Sendable {
  enum Outcome: Sendable {
    case answered
    /// Refused by the service itself, without a request to the upstream.
    case rejected
    case failed
    /// The text of another article.
    case wrong
  }

  let arrival: Arrival
  /// From the time at which the request was to arrive, so that the wait for a busy service counts.
  let latency: Duration
  let outcome: Outcome

  /// Whether the visitor got the article while waiting for it.
  var isInTime: Bool { self.outcome == .answered && self.latency <= Arrival.patience }
}

/// The calls of a service in a time, and the requests that reached its upstream.
struct Recording: Sendable {
  var calls: [Call]
  var requests: [Upstream.Request]
  /// The length of the time, in seconds.
  var seconds = Double(Phase.totalSeconds)

  subscript(phase: Phase) -> Recording {
    self[Double(phase.range.lowerBound)..<Double(phase.range.upperBound)]
  }

  /// A phase without its first three seconds, after which it has shown its effect.
  subscript(end phase: Phase) -> Recording {
    self[Double(phase.range.lowerBound + 3)..<Double(phase.range.upperBound)]
  }

  /// The calls and requests that began in a period.
  subscript(times: Range<Double>) -> Recording {
    let range = Duration.seconds(times.lowerBound)..<Duration.seconds(times.upperBound)
    return Recording(
      calls: self.calls.filter { range.contains($0.arrival.time) },
      requests: self.requests.filter { range.contains($0.time) },
      seconds: times.upperBound - times.lowerBound
    )
  }

  /// The calls of some tenants.
  func of(_ tenants: some Sequence<Int>) -> Recording {
    let tenants = Set(tenants)
    return Recording(
      calls: self.calls.filter { tenants.contains($0.arrival.tenant) },
      requests: self.requests,
      seconds: self.seconds
    )
  }

  /// The calls for articles that no cache has.
  var uncached: Recording {
    Recording(calls: self.calls.filter { !$0.arrival.isOfFrontPage }, requests: self.requests, seconds: self.seconds)
  }

  /// The calls for articles of the front page.
  var ofFrontPage: Recording {
    Recording(calls: self.calls.filter(\.arrival.isOfFrontPage), requests: self.requests, seconds: self.seconds)
  }

  /// The calls of all tenants but the greedy one.
  var ofOthers: Recording { self.of(Arrival.tenants.filter { $0 != Arrival.greedyTenant }) }
}

extension Recording {
  func perSecond(_ count: Int) -> Double { Double(count) / self.seconds }

  /// The number of calls that were answered in time, each second.
  var goodput: Double { self.perSecond(self.calls.count(where: \.isInTime)) }

  /// The number of calls that the service rejected, each second.
  var rejections: Double { self.perSecond(self.calls.count { $0.outcome == .rejected }) }

  /// The share of calls that were answered in time; nil without calls.
  var inTime: Double? {
    self.calls.isEmpty ? nil : Double(self.calls.count(where: \.isInTime)) / Double(self.calls.count)
  }

  /// The latency within which this share of the answers came, late ones included; nil without answers.
  func latency(quantile: Double) -> Duration? {
    let latencies = self.calls.filter { $0.outcome == .answered }.map(\.latency).sorted()
    guard !latencies.isEmpty else { return nil }
    return latencies[max(0, Int((quantile * Double(latencies.count)).rounded(.up)) - 1)]
  }

  /// How many requests were sent for each request of a visitor for which at least one was sent; nil without any.
  var requestsPerAdmitted: Double? {
    self.requests.isEmpty ? nil : Double(self.requests.count) / Double(Set(self.requests.map(\.id)).count)
  }
}

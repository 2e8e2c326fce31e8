/// One call, and its outcome.
struct Call: Sendable {
  enum Outcome: Sendable {
    /// The post, as the server has it.
    case fresh
    /// The post, as the server had it.
    case fallback
    case failed
    /// Another post.
    case wrong
  }

  /// The time from the start of the scenario.
  let start: Duration
  let latency: Duration
  let outcome: Outcome

  var isAnswered: Bool { self.outcome == .fresh || self.outcome == .fallback }

  /// Whether the caller got the post while waiting for it.
  var isInTime: Bool { self.isAnswered && self.latency <= Self.patience }

  /// How long a caller waits for an answer that is of use.
  static let patience = Duration.seconds(1)
}

/// The calls of a client in a time, and the requests that reached its server.
struct Recording: Sendable {
  var calls: [Call]
  /// When requests reached the server, from the start of the scenario.
  var requests: [Duration]

  subscript(phase: Phase) -> Recording {
    self[.seconds(phase.range.lowerBound)..<(.seconds(phase.range.upperBound))]
  }

  /// The calls and requests that began in a period.
  subscript(times: Range<Duration>) -> Recording {
    Recording(
      calls: self.calls.filter { times.contains($0.start) },
      requests: self.requests.filter { times.contains($0) }
    )
  }
}

extension Recording {
  /// The share of calls with an answer in time; nil without calls.
  var inTime: Double? { self.share(\.isInTime) }

  /// The share of calls with an answer of the server in time; nil without calls.
  var fresh: Double? { self.share { $0.isInTime && $0.outcome == .fresh } }

  private func share(_ counts: (Call) -> Bool) -> Double? {
    self.calls.isEmpty ? nil : Double(self.calls.count(where: counts)) / Double(self.calls.count)
  }

  /// The latency within which this share of the answers came; nil without answers.
  func latency(quantile: Double) -> Duration? {
    let latencies = self.calls.filter(\.isAnswered).map(\.latency).sorted()
    guard !latencies.isEmpty else { return nil }
    return latencies[max(0, Int((quantile * Double(latencies.count)).rounded(.up)) - 1)]
  }
}

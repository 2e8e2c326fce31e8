/// The condition of a server: how fast it is, how much it can do, and whether it fails.
package struct ServerCondition: Hashable, Sendable {
  /// How long an answer takes.
  package var latency: Duration
  /// One of this many requests takes ``slowLatency``; nil for none.
  package var slowEvery: Int?
  /// How long a slow answer takes.
  package var slowLatency: Duration
  /// The time that the server needs for each request, one after the other; requests that come faster wait in line.
  package var work: Duration
  /// The answer to all requests, in place of the true one; nil while the server works.
  package var fault: Fault?

  package init(
    latency: Duration,
    slowEvery: Int? = nil,
    slowLatency: Duration = .zero,
    work: Duration = .zero,
    fault: Fault? = nil
  ) {
    self.latency = latency
    self.slowEvery = slowEvery
    self.slowLatency = slowLatency
    self.work = work
    self.fault = fault
  }
}

extension ServerCondition {
  /// The requests that arrived since a condition began, and the line in which they wait.
  struct Line: Sendable {
    private var count = 0
    /// When the server has done all requests that wait.
    private var busyUntil: ContinuousClock.Instant?

    /// The time until the answer to a request that arrives now.
    mutating func join(_ condition: ServerCondition, at now: ContinuousClock.Instant = .now) -> Duration {
      self.count += 1
      let isSlow = condition.slowEvery.map { self.count.isMultiple(of: $0) } ?? false
      let begin = max(now, self.busyUntil ?? now)
      let end = begin + condition.work
      self.busyUntil = end
      return now.duration(to: end) + (isSlow ? condition.slowLatency : condition.latency)
    }
  }
}

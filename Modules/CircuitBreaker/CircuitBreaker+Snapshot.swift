public import OperationCore
public import OperationFoundation

extension CircuitBreaker {
  /// The state and the counts of a circuit breaker at one moment, for logs and for a status page.
  public struct Snapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The name of the breaker; `CircuitBreaker` for one without a name.
    public let name: String

    /// The state of the breaker.
    public let state: State

    /// The share of failed runs at which the breaker opens.
    public let failureRatio: Double

    /// The number of runs below which the breaker does not open.
    public let minimumRuns: Int

    /// When the breaker has left the closed state; nil while it is closed, and for an isolated one.
    ///
    /// It is a date on the clock of the run that has opened the breaker. Probes that fail do not change it.
    public let openSince: Date?

    /// The number of runs that count in the window. It begins at 0 in each state.
    public let runs: Int

    /// The number of those runs that have failed.
    public let failures: Int

    /// The number of those runs that were slow.
    public let slow: Int

    /// How often the breaker has opened since it was created.
    public let trips: Int

    /// How many results would have opened the breaker, if not too many others of its ``CircuitBreakers`` had been open.
    public let preventedTrips: Int

    /// How many runs the breaker has rejected since it was created.
    public let rejections: Int

    /// The number of probes that are under way.
    public let probes: Int

    /// The number of runs that wait for the probes.
    public let waiting: Int

    /// The snapshot on one line.
    public var description: String {
      "\(self.name): \(self.state), \(self.failures) of \(self.runs) runs failed, \(self.trips) trips, \(self.rejections) rejections"
    }
  }
}

extension CircuitBreaker.Snapshot: OperationResilienceSnapshot {
  /// The counts, what they are compared with, and the state as `circuit.state`: 0 is closed, 1 half-open, 2 open and 3
  /// isolated.
  public var gauges: [String: Double] {
    [
      "circuit.state": self.state.number, "circuit.failure_ratio": self.failureRatio,
      "circuit.minimum_runs": Double(self.minimumRuns), "circuit.runs": Double(self.runs),
      "circuit.failures": Double(self.failures), "circuit.slow": Double(self.slow),
      "circuit.trips": Double(self.trips), "circuit.rejections": Double(self.rejections),
      "circuit.waiting": Double(self.waiting),
    ]
  }
}

extension CircuitBreaker.State {
  fileprivate var number: Double {
    switch self {
    case .closed: 0
    case .halfOpen: 1
    case .open: 2
    case .isolated: 3
    }
  }
}

extension CircuitBreaker.State: CustomStringConvertible {
  /// The name of the state: `closed`, `open`, `half-open` or `isolated`.
  public var name: String {
    switch self {
    case .closed: "closed"
    case .open: "open"
    case .halfOpen: "half-open"
    case .isolated: "isolated"
    }
  }

  /// The date until which the breaker is open; nil in other states.
  public var openUntil: Date? {
    if case .open(let date) = self { date } else { nil }
  }

  /// The name of the state, with the date of an open breaker.
  public var description: String {
    self.openUntil.map { "\(self.name) until \($0)" } ?? self.name
  }
}

extension CircuitBreaker.State: Encodable {
  private enum CodingKeys: String, CodingKey {
    case name
    case openUntil
  }

  /// Encodes the name of the state, and the date of an open breaker: `{"name": "open", "openUntil": …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(self.name, forKey: .name)
    try container.encodeIfPresent(self.openUntil, forKey: .openUntil)
  }
}

extension CircuitBreaker: CustomStringConvertible {
  /// The name, the state and the counts of the breaker: its ``snapshot``.
  public var description: String { "Circuit breaker \(self.snapshot())" }
}

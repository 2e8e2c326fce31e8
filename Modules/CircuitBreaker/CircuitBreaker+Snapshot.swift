public import OperationFoundation

extension CircuitBreaker {
  /// The state and the counts of a circuit breaker at one moment, for logs and for a status page.
  public struct Snapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The name of the breaker; nil without a name.
    public let name: String?

    /// The state of the breaker.
    public let state: State

    /// The number of runs that count in the window. It begins at 0 in each state.
    public let runs: Int

    /// The number of those runs that have failed.
    public let failures: Int

    /// How often the breaker has opened since it was created.
    public let trips: Int

    /// How many runs the breaker has rejected since it was created.
    public let rejections: Int

    /// The snapshot on one line.
    public var description: String {
      let name = self.name.map { "\($0): " } ?? ""
      return
        "\(name)\(self.state), \(self.failures) of \(self.runs) runs failed, \(self.trips) trips, \(self.rejections) rejections"
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
  public var description: String { "Circuit breaker \(self.snapshot)" }
}

public import OperationCore
internal import OperationFoundation

extension OperationNotice.Name {
  /// A run has opened a circuit breaker. The attribute `circuit.open_until` is the date, such as
  /// `2026-01-31T12:00:00Z`, and `circuit.reason` is `failures`, `slow_runs`, `probe` or `half_open_time`.
  public static let circuitOpened = Self("circuit.opened")

  /// An open circuit breaker admits probes.
  public static let circuitHalfOpened = Self("circuit.half_opened")

  /// The probes have succeeded, and the circuit breaker is closed.
  public static let circuitClosed = Self("circuit.closed")

  /// A circuit breaker has rejected a run. The attribute `circuit.retry_after` is the time until it admits one.
  public static let circuitRejected = Self("circuit.rejected")
}

extension CircuitBreaker {
  /// The notice of a state that a run has caused. The attribute `circuit.name` is the name of the breaker.
  func notice(of state: State) -> OperationNotice {
    var attributes = self.nameAttributes
    switch state {
    case .open(let date):
      attributes["circuit.open_until"] = .string(date.formatted(.iso8601))
      attributes["circuit.reason"] = .string(self.withMachine { $0.trigger }.rawValue)
      return OperationNotice(.circuitOpened, attributes: attributes)
    case .halfOpen: return OperationNotice(.circuitHalfOpened, attributes: attributes)
    // No run isolates a breaker.
    case .closed, .isolated: return OperationNotice(.circuitClosed, attributes: attributes)
    }
  }

  @usableFromInline
  func notice(of error: CircuitOpen, for operation: some OperationRequest) -> OperationNotice {
    var attributes = self.nameAttributes
    if let retryAfter = error.retryAfter { attributes["circuit.retry_after"] = .duration(retryAfter) }
    return OperationNotice(.circuitRejected, of: operation, attributes: attributes)
  }

  private var nameAttributes: [String: OperationNotice.Value] {
    self.name.map { ["circuit.name": .string($0)] } ?? [:]
  }
}

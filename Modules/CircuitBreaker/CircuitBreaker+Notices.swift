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

  /// The settings of a circuit breaker or of a group of them were changed.
  ///
  /// The attributes have the names of the settings, such as `circuit.failure_ratio`, and the present values. Those with
  /// `.previous` at the end are what has changed, and `circuit.name` is the name.
  public static let circuitSettingsChanged = Self("circuit.settings_changed")
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

  var nameAttributes: [String: OperationNotice.Value] {
    self.name.map { ["circuit.name": .string($0)] } ?? [:]
  }
}

extension SettingsChange {
  /// What an update has changed of the settings of a breaker.
  init(
    of attributes: [String: OperationNotice.Value],
    from earlier: CircuitSettings,
    to current: CircuitSettings,
    isFunctionReplaced: Bool
  ) {
    self.init(of: attributes)
    for (key, path) in [("circuit.failure_ratio", \CircuitSettings.failureRatio), ("circuit.slow_ratio", \.slowRatio)] {
      self.add(key, from: .number(earlier[keyPath: path]), to: .number(current[keyPath: path]))
    }
    for (key, path) in [("circuit.minimum_runs", \CircuitSettings.minimumRuns), ("circuit.probes", \.probes)] {
      self.add(key, from: .integer(earlier[keyPath: path]), to: .integer(current[keyPath: path]))
    }
    for (key, path) in [("circuit.window", \CircuitSettings.window), ("circuit.probe_wait", \.probeWait)] {
      self.add(key, from: .duration(earlier[keyPath: path]), to: .duration(current[keyPath: path]))
    }
    for (key, path) in [("circuit.slow_after", \CircuitSettings.slowAfter), ("circuit.half_open_for", \.halfOpenFor)] {
      self.add(
        key,
        from: earlier[keyPath: path].map { .duration($0) },
        to: current[keyPath: path].map { .duration($0) }
      )
    }
    self.add(
      "circuit.last_runs",
      from: earlier.lastRuns.map { .integer($0) },
      to: current.lastRuns.map { .integer($0) }
    )
    self.add(
      "circuit.open_for",
      from: .text(earlier.openFor),
      to: .text(current.openFor),
      isReplaced: isFunctionReplaced
    )
  }
}

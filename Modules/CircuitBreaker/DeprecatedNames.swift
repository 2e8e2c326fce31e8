public import OperationCore

extension CircuitBreaker {
  /// The state and the counts of the breaker at this moment.
  @available(*, deprecated, message: "call snapshot(), as for all limits and groups")
  public var snapshot: Snapshot { self.snapshot() }
}

extension OperationRequest where Failure == any Error {
  @available(*, deprecated, message: "Write failingOn: .where { … }.")
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    failingOn isFailure: @escaping @Sendable (Value) -> Bool
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.circuitBreaker(breaker, failingOn: .where(isFailure))
  }

  @available(*, deprecated, message: "Write failingOn: .where { … }.")
  public func circuitBreaker(
    _ breakers: CircuitBreakers,
    failingOn isFailure: @escaping @Sendable (Value) -> Bool,
    by key: @escaping @Sendable (Self, OperationContext) -> String
  ) -> ModifiedOperation<Self, KeyedCircuitBreaking<Self>> {
    self.circuitBreaker(breakers, failingOn: .where(isFailure), by: key)
  }
}

extension OperationRequest {
  @available(*, deprecated, message: "Write failingOn: .where { … }.")
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    failingOn isFailure: @escaping @Sendable (Value) -> Bool,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.circuitBreaker(breaker, failingOn: .where(isFailure), else: failure)
  }

  @available(*, deprecated, message: "Write failingOn: .where { … }.")
  public func circuitBreaker(
    _ breakers: CircuitBreakers,
    failingOn isFailure: @escaping @Sendable (Value) -> Bool,
    by key: @escaping @Sendable (Self, OperationContext) -> String,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, KeyedCircuitBreaking<Self>> {
    self.circuitBreaker(breakers, failingOn: .where(isFailure), by: key, else: failure)
  }
}

extension CircuitBreakers {
  @available(*, deprecated, message: "Write maximumOpenRatio: as for all shares between 0 and 1.")
  public convenience init(
    name: String? = nil,
    maximum: Int = 1000,
    maximumOpen: Double,
    idleAfter: OperationDuration = .seconds(600),
    _ make: @escaping @Sendable (String) -> CircuitBreaker = { CircuitBreaker(name: $0) }
  ) {
    self.init(name: name, maximum: maximum, maximumOpenRatio: maximumOpen, idleAfter: idleAfter, make)
  }

  @available(*, deprecated, message: "Write maximumOpenRatio: as for all shares between 0 and 1.")
  @discardableResult
  public func update(
    maximum: Int? = nil,
    maximumOpen: Double,
    idleAfter: OperationDuration? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    self.update(maximum: maximum, maximumOpenRatio: maximumOpen, idleAfter: idleAfter, in: context)
  }
}

extension CircuitBreakersSnapshot {
  @available(*, deprecated, renamed: "maximumOpenRatio")
  public var maximumOpen: Double { self.maximumOpenRatio }
}

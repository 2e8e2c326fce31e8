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

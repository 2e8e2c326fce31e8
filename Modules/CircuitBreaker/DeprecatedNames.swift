extension CircuitBreaker {
  /// The state and the counts of the breaker at this moment.
  @available(*, deprecated, message: "call snapshot(), as for all limits and groups")
  public var snapshot: Snapshot { self.snapshot() }
}

extension CircuitBreaker {
  /// Which values of an operation count as failures of the service.
  public struct FailureValues<Value>: Sendable {
    @usableFromInline let contains: @Sendable (Value) -> Bool

    /// The values for which `isFailure` returns true.
    ///
    /// - Parameter isFailure: Receives each value of a run that the breaker has admitted. Called with no lock held.
    /// - Returns: The values.
    public static func `where`(_ isFailure: @escaping @Sendable (Value) -> Bool) -> Self { Self(contains: isFailure) }
  }
}

/// The value or the error of a run, without its type.
public struct StoreOutcome: Sendable {
  let outcome: RunOutcome

  init(_ outcome: RunOutcome) {
    self.outcome = outcome
  }

  /// The error; nil for a value.
  public var error: (any Error)? { self.outcome.anyError }

  /// Whether the error is a `CancellationError`.
  public var isCancellation: Bool { self.outcome.isCancellation }

  /// The value with its type; nil for an error, and for a value of another type.
  ///
  /// - Parameter type: The type of the value that the operation returns.
  /// - Returns: The value.
  public func value<Value: Sendable>(as type: Value.Type) -> Value? { self.outcome.anyValue as? Value }
}

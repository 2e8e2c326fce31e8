/// The value or the error of a run, without its type.
public struct StoreOutcome: Sendable {
  package let base: RunOutcome

  /// Whether the run was cancelled, whatever error it has ended with.
  public let isCancellation: Bool

  /// Creates an outcome.
  ///
  /// - Parameters:
  ///   - base: The outcome of the run.
  ///   - isCancelled: Whether the run was cancelled, so that an error of its own is no failure.
  init(_ base: RunOutcome, isCancelled: Bool = false) {
    self.base = base
    self.isCancellation = base.isCancellation || (isCancelled && !base.isSuccess)
  }

  /// The error; nil if the run has returned a value.
  public var error: (any Error)? { self.base.anyError }

  /// Returns the value.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value; nil if it has another type, and for an error.
  public func value<Value: Sendable>(as type: Value.Type) -> Value? {
    if let success = self.base as? RunSuccess<Value> { return success.value }
    return self.base.anyValue.flatMap { $0 as? Value }
  }
}

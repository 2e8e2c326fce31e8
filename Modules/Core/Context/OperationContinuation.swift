/// Receives the results that an operation reports while it runs, ahead of the one it returns.
///
/// ```swift
/// if let cached = cache.post(id) { continuation.yield(cached) }
/// return try await fetchPost(id)
/// ```
///
/// A yield made after the run has returned changes nothing and is reported as an ``OperationWarning``.
public struct OperationContinuation<Value, Failure: Error>: Sendable {
  @usableFromInline let onResult: @Sendable (Result<Value, Failure>, OperationContext?) -> Void

  /// Creates a continuation.
  ///
  /// - Parameter onResult: Called for each yielded result, on the yielding thread, with the context that the yield
  ///   named, or nil when it named none.
  @inlinable
  public init(onResult: @escaping @Sendable (Result<Value, Failure>, OperationContext?) -> Void) {
    self.onResult = onResult
  }

  /// Reports a value.
  @inlinable
  public func yield(_ value: Value, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Reports an error. The run goes on.
  @inlinable
  public func yield(error: Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Reports a result. The run goes on.
  @inlinable
  public func yield(with result: Result<Value, Failure>, using context: OperationContext? = nil) {
    self.onResult(result, context)
  }
}

/// Receives the results that an operation yields while it runs, before it returns.
///
/// ```swift
/// if let cached = cache.post(id) { continuation.yield(cached) }
/// return try await fetchPost(id)
/// ```
///
/// A yield after the run has returned has no effect and is reported as an ``OperationWarning``.
public struct OperationContinuation<Value, Failure: Error>: Sendable {
  @usableFromInline let onResult: @Sendable (Result<Value, Failure>, OperationContext?) -> Void

  /// Creates a continuation.
  ///
  /// - Parameter onResult: Called for each yielded result on the yielding thread, with the context passed to the yield,
  ///   if any.
  @inlinable
  public init(onResult: @escaping @Sendable (Result<Value, Failure>, OperationContext?) -> Void) {
    self.onResult = onResult
  }

  /// Yields a value.
  @inlinable
  public func yield(_ value: Value, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Yields an error, after which the run continues.
  @inlinable
  public func yield(error: Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Yields a result, after which the run continues.
  @inlinable
  public func yield(with result: Result<Value, Failure>, using context: OperationContext? = nil) {
    self.onResult(result, context)
  }
}

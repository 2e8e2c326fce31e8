/// An operation that fetches a value, which its store caches, shares and refreshes.
///
/// A query only reads, so it is an ``IdempotentRequest``.
///
/// ```swift
/// struct PostQuery: QueryRequest {
///   let id: Int
///
///   var path: OperationPath { ["posts", id] }
///
///   func fetch(
///     isolation: isolated (any Actor)?,
///     in context: OperationContext,
///     with continuation: OperationContinuation<Post, any Error>
///   ) async throws -> Post {
///     if let known = cache[self.id] { continuation.yield(known) }
///     return try await api.post(self.id)
///   }
/// }
/// ```
///
/// A query that needs no continuation conforms to ``SimpleQueryRequest``, whose `fetch` takes the context alone.
public protocol QueryRequest<Value, Failure>: StatefulOperationRequest, IdempotentRequest
where State == QueryState<Value, Failure> {
  associatedtype Value
  associatedtype Failure
  associatedtype State = QueryState<Value, Failure>

  /// Fetches the value.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on; nil to run on no actor.
  ///   - context: The configuration and dependencies of this run.
  ///   - continuation: Receives values before the returned one, such as a cached value.
  /// - Returns: The final value of the fetch.
  /// - Throws: The error with which the fetch fails.
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value
}

extension QueryRequest {
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.fetch(isolation: isolation, in: context, with: continuation)
  }

  public func taskName(in context: OperationContext) -> String { "\(self.operationName): fetch" }
}

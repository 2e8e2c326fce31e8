/// A query that returns one value, and needs no continuation.
///
/// ```swift
/// struct PostQuery: SimpleQueryRequest {
///   let id: Int
///
///   var path: OperationPath { ["posts", id] }
///
///   func fetch(in context: OperationContext) async throws -> Post {
///     try await api.post(id)
///   }
/// }
/// ```
///
/// It is a ``QueryRequest`` in everything else. Conform to that one if `fetch` yields values before the one that it
/// returns.
public protocol SimpleQueryRequest<Value, Failure>: QueryRequest {
  associatedtype Value
  associatedtype Failure
  associatedtype State = QueryState<Value, Failure>

  /// Fetches the value.
  ///
  /// It runs on the actor that the run is on: on none in a store. Written `@concurrent`, it never runs on an actor.
  ///
  /// - Parameter context: The configuration and dependencies of this run.
  /// - Returns: The value.
  /// - Throws: The error with which the fetch fails.
  nonisolated(nonsending) func fetch(in context: OperationContext) async throws(Failure) -> Value
}

extension SimpleQueryRequest {
  /// Calls ``fetch(in:)``.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.fetch(in: context)
  }
}

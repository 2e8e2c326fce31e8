#if SwiftOperationMacros
  public import OperationCore

  /// The query that `@QueryRequest` makes of a function. `Origin` tells it from those of other functions.
  public struct FunctionQuery<Origin, Value: Sendable, Failure: Error>: QueryRequest {
    /// A call of the function, with the arguments that the query was made with.
    public typealias Body =
      @Sendable (isolated (any Actor)?, OperationContext, OperationContinuation<Value, Failure>)
      async throws(Failure) -> Value

    public let path: OperationPath
    private let body: Body

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - path: What identifies the query.
    ///   - body: The call.
    public init(path: OperationPath, body: @escaping Body) {
      self.path = path
      self.body = body
    }

    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, Failure>
    ) async throws(Failure) -> Value {
      try await self.body(isolation, context, continuation)
    }
  }
#endif

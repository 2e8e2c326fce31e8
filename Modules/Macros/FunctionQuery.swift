#if SwiftOperationMacros
  public import OperationCore

  /// The query that `@QueryRequest` makes of a function. `Origin` identifies the function.
  public struct FunctionQuery<Origin, Value: Sendable, Failure: Error>: QueryRequest {
    /// Calls the function with the stored arguments of the query.
    public typealias Body =
      @Sendable (isolated (any Actor)?, OperationContext, OperationContinuation<Value, Failure>)
      async throws(Failure) -> Value

    /// The path of the query.
    public let path: OperationPath

    /// The name of the function, with the type that it belongs to.
    public var operationName: String { self.name.text }

    private let name: FunctionName
    private let body: Body

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - path: The path of the query.
    ///   - owner: The type that the function belongs to; nil for a global function.
    ///   - peer: The generated member that creates the query.
    ///   - body: Calls the function.
    public init(
      path: OperationPath,
      of owner: (any Any.Type)? = nil,
      peer: StaticString = #function,
      body: @escaping Body
    ) {
      self.path = path
      self.name = FunctionName(owner: owner, peer: peer)
      self.body = body
    }

    /// Calls the function.
    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, Failure>
    ) async throws(Failure) -> Value {
      try await self.body(isolation, context, continuation)
    }
  }
#endif

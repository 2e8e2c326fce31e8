#if SwiftOperationMacros
  public import OperationCore

  /// The query that `@QueryRequest` makes of a function. `Origin` tells it from those of other functions.
  public struct FunctionQuery<Origin, Value: Sendable, Failure: Error>: QueryRequest {
    /// A call of the function, with the arguments that the query was made with.
    public typealias Body =
      @Sendable (isolated (any Actor)?, OperationContext, OperationContinuation<Value, Failure>)
      async throws(Failure) -> Value

    public let path: OperationPath
    public var operationName: String { self.name.text }
    private let name: FunctionName
    private let body: Body

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - path: What identifies the query.
    ///   - owner: The type that the function belongs to; nil for a global one.
    ///   - peer: The member that makes the query.
    ///   - body: The call.
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

    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, Failure>
    ) async throws(Failure) -> Value {
      try await self.body(isolation, context, continuation)
    }
  }
#endif

#if SwiftOperationMacros
  public import OperationCore

  /// The operation that `@OperationRequest` makes of a function.
  public struct FunctionOperation<Value, Failure: Error>: OperationRequest, Sendable {
    /// Calls the function with the stored arguments of the operation.
    public typealias Body =
      @Sendable (isolated (any Actor)?, OperationContext, OperationContinuation<Value, Failure>)
      async throws(Failure) -> Value

    /// The name of the function, with the type that it belongs to.
    public var operationName: String { self.name.text }

    private let name: FunctionName
    private let body: Body

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - owner: The type that the function belongs to; nil for a global function.
    ///   - peer: The generated member that creates the operation.
    ///   - body: Calls the function.
    public init(of owner: (any Any.Type)? = nil, peer: StaticString = #function, body: @escaping Body) {
      self.name = FunctionName(owner: owner, peer: peer)
      self.body = body
    }

    /// Calls the function.
    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, Failure>
    ) async throws(Failure) -> Value {
      try await self.body(isolation, context, continuation)
    }
  }
#endif

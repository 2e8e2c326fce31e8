#if SwiftOperationMacros
  public import OperationCore

  /// The operation that `@OperationRequest` makes of a function.
  public struct FunctionOperation<Value, Failure: Error>: OperationRequest, Sendable {
    /// A call of the function, with the arguments that the operation was made with.
    public typealias Body =
      @Sendable (isolated (any Actor)?, OperationContext, OperationContinuation<Value, Failure>)
      async throws(Failure) -> Value

    public var operationName: String { self.name.text }
    private let name: FunctionName
    private let body: Body

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - owner: The type that the function belongs to; nil for a global one.
    ///   - peer: The member that makes the operation.
    ///   - body: The call.
    public init(of owner: (any Any.Type)? = nil, peer: StaticString = #function, body: @escaping Body) {
      self.name = FunctionName(owner: owner, peer: peer)
      self.body = body
    }

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, Failure>
    ) async throws(Failure) -> Value {
      try await self.body(isolation, context, continuation)
    }
  }

  /// What the macros write around the call of a function that is not `async`.
  public enum FunctionCall {
    /// The result of a call, asynchronously: so `await` is right for a function of an actor and for any other.
    public static func result<Value>(
      isolation: isolated (any Actor)? = #isolation,
      of call: Value
    ) async -> Value {
      call
    }
  }
#endif

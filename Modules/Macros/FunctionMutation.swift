#if SwiftOperationMacros
  public import OperationCore
  public import OperationMutation

  /// The mutation that `@MutationRequest` makes of a function. `Origin` identifies the function.
  public struct FunctionMutation<Origin, Arguments: Sendable, MutateValue: Sendable, MutateFailure: Error>:
    MutationRequest
  {
    /// Calls the function with the stored arguments of the mutation and the arguments of a call.
    public typealias Body =
      @Sendable (isolated (any Actor)?, Arguments, OperationContext, OperationContinuation<MutateValue, MutateFailure>)
      async throws(MutateFailure) -> MutateValue

    /// The path of the mutation.
    public let path: OperationPath

    /// The name of the function, with the type that it belongs to.
    public var operationName: String { self.name.text }

    private let name: FunctionName
    private let body: Body

    /// Creates a mutation.
    ///
    /// - Parameters:
    ///   - path: The path of the mutation.
    ///   - owner: The type that the function belongs to; nil for a global function.
    ///   - peer: The generated member that creates the mutation.
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
    public func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Arguments,
      in context: OperationContext,
      with continuation: OperationContinuation<MutateValue, MutateFailure>
    ) async throws(MutateFailure) -> MutateValue {
      try await self.body(isolation, arguments, context, continuation)
    }
  }
#endif

#if SwiftOperationMacros
  public import OperationCore
  public import OperationMutation

  /// The mutation that `@MutationRequest` makes of a function. `Origin` tells it from those of other functions.
  public struct FunctionMutation<Origin, Arguments: Sendable, MutateValue: Sendable, MutateFailure: Error>:
    MutationRequest
  {
    /// A call of the function, with the parameters that belong to the mutation.
    public typealias Body =
      @Sendable (isolated (any Actor)?, Arguments, OperationContext, OperationContinuation<MutateValue, MutateFailure>)
      async throws(MutateFailure) -> MutateValue

    public let path: OperationPath
    private let body: Body

    /// Creates a mutation.
    ///
    /// - Parameters:
    ///   - path: What identifies the mutation.
    ///   - body: The call.
    public init(path: OperationPath, body: @escaping Body) {
      self.path = path
      self.body = body
    }

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

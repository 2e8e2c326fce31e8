public import OperationCore

// Without these declarations the compiler asks for nested types, and not for the function.

extension SimpleMutationRequest where Arguments == MissingBody, MutateValue == MissingBody, MutateFailure == Never {
  /// Says which function a mutation has, where its own has another signature.
  @available(
    *,
    unavailable,
    message: "write func mutate(with arguments: …, in context: OperationContext) async throws -> …"
  )
  nonisolated(nonsending) public func mutate(
    with arguments: MissingBody,
    in context: OperationContext
  ) async throws(Never) -> MissingBody {
    preconditionFailure("Unavailable.")
  }
}

extension MutationRequest where Arguments == MissingBody, MutateValue == MissingBody, MutateFailure == Never {
  /// Says which function a mutation has, where its own has another signature.
  @available(
    *,
    unavailable,
    message: "conform to SimpleMutationRequest, which has mutate(with:in:), or write mutate(isolation:with:in:with:)"
  )
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: MissingBody,
    in context: OperationContext,
    with continuation: OperationContinuation<MissingBody, Never>
  ) async throws(Never) -> MissingBody {
    preconditionFailure("Unavailable.")
  }
}

extension MutationOperation where MutateFailure == any Error {
  /// Says what is missing where a closure takes the arguments alone.
  @available(*, unavailable, message: "the context comes after the arguments: { (arguments: …, context) in … }")
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    body: @escaping @Sendable (Arguments) async throws -> MutateValue
  ) {
    preconditionFailure("Unavailable.")
  }
}

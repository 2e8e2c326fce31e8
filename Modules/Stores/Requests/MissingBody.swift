/// Stands for the values of a request whose function has another signature than its protocol asks for.
///
/// Only messages of the compiler name it: without it they ask for nested types, and not for the function.
public enum MissingBody: Sendable {}

extension SimpleQueryRequest where Value == MissingBody, Failure == Never {
  /// Says which function a query has, where its own has another signature.
  @available(*, unavailable, message: "write func fetch(in context: OperationContext) async throws -> …")
  nonisolated(nonsending) public func fetch(in context: OperationContext) async throws(Never) -> MissingBody {
    preconditionFailure("Unavailable.")
  }
}

extension QueryRequest where Value == MissingBody, Failure == Never {
  /// Says which function a query has, where its own has another signature.
  @available(
    *,
    unavailable,
    message: "conform to SimpleQueryRequest, which has fetch(in:), or write fetch(isolation:in:with:)"
  )
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MissingBody, Never>
  ) async throws(Never) -> MissingBody {
    preconditionFailure("Unavailable.")
  }
}

public import OperationCore

/// An operation that calls a closure.
public struct ClosureOperation<Value: Sendable>: OperationRequest, Sendable {
  /// The name of the operation in messages, logs and traces.
  public let operationName: String
  private let body: @Sendable (OperationContext) async throws -> Value

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - name: The name of the operation. It must not contain user data, because metrics record a series for each name.
  ///   - body: The work, which receives the context of the run.
  public init(
    _ name: String = "ClosureOperation",
    _ body: @escaping @Sendable (OperationContext) async throws -> Value
  ) {
    self.operationName = name
    self.body = body
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>
  ) async throws -> Value {
    try await self.body(context)
  }
}

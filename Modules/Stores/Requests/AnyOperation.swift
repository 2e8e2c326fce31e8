/// A type-erased operation with a given value type and failure type.
///
/// ```swift
/// let steps: [AnyOperation<Void, any Error>] = [AnyOperation(download), AnyOperation(unpack.retry(limit: 3))]
/// for step in steps { try await OperationRunner(operation: step).run() }
/// ```
///
/// It is not a query, even when it wraps one: it has no store, so the state of its runs is not recorded.
public struct AnyOperation<Value, Failure: Error>: OperationRequest, Sendable {
  /// The wrapped operation.
  public let base: any OperationRequest<Value, Failure> & Sendable

  /// Wraps an operation, unless it is an `AnyOperation` already.
  public init(_ operation: some OperationRequest<Value, Failure> & Sendable) {
    self.base = (operation as? AnyOperation)?.base ?? operation
  }

  public var operationName: String { self.base.operationName }

  public func setup(context: inout OperationContext) {
    self.base.setup(context: &context)
  }

  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.base.isSameRun(in: context, as: other)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}

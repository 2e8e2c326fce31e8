/// An operation with its type erased: what it produces and can throw is known, what it is made of is not.
///
/// ```swift
/// let steps: [AnyOperation<Void, any Error>] = [AnyOperation(download), AnyOperation(unpack.retry(limit: 3))]
/// for step in steps { try await OperationRunner(operation: step).run() }
/// ```
///
/// It is no query, whatever it wraps: the state of a run is nowhere kept.
public struct AnyOperation<Value, Failure: Error>: OperationRequest, Sendable {
  /// The operation.
  public let base: any OperationRequest<Value, Failure> & Sendable

  /// Erases the type of an operation.
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

/// An operation that may run several times, even at once, with the effect of one run.
///
/// A ``QueryRequest`` is one. For another operation, conform its type, or write ``OperationRequest/idempotent()`` at
/// its use. An idempotent operation with modifiers around it is idempotent, too. Modifiers that repeat runs without
/// waiting for the end of the first one require it, such as `hedged(after:maximum:)` of `OperationHedging`.
public protocol IdempotentRequest: OperationRequest {}

extension OperationRequest {
  /// States that several runs of the operation, even at once, have the effect of one run.
  @inlinable
  public func idempotent() -> IdempotentOperation<Self> {
    IdempotentOperation(self)
  }
}

/// An operation whose author states that it is idempotent. It behaves like the operation inside.
public struct IdempotentOperation<Operation: OperationRequest>: IdempotentRequest {
  public typealias Value = Operation.Value
  public typealias Failure = Operation.Failure

  /// The operation inside.
  public let operation: Operation

  /// States that an operation is idempotent.
  @inlinable
  public init(_ operation: Operation) {
    self.operation = operation
  }

  @inlinable
  public static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  @inlinable
  public var operationName: String { self.operation.operationName }

  @inlinable
  public func setup(context: inout OperationContext) {
    self.operation.setup(context: &context)
  }

  @inlinable
  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }

  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await self.operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension Modified: IdempotentRequest where Operation: IdempotentRequest {}

extension DefaultStateOperation: IdempotentRequest where Operation: IdempotentRequest {}

extension IdempotentOperation: Sendable where Operation: Sendable {}

extension IdempotentOperation: OperationPathable where Operation: StatefulOperationRequest {
  @inlinable
  public var path: OperationPath { self.operation.path }
}

extension IdempotentOperation: StatefulOperationRequest where Operation: StatefulOperationRequest {
  public typealias State = Operation.State

  @inlinable
  public var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  @inlinable
  public func taskName(in context: OperationContext) -> String { self.operation.taskName(in: context) }
}

extension IdempotentOperation: QueryRequest where Operation: QueryRequest {
  @inlinable
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await self.run(isolation: isolation, in: context, with: continuation)
  }
}

extension IdempotentOperation: DefaultStateRequest where Operation: DefaultStateRequest {
  @inlinable
  public var initialState: Operation.State { self.operation.initialState }
}

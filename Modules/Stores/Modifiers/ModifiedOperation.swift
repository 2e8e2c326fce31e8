/// An operation with a modifier around it.
///
/// It is a query, mutation or paginated request when the operation is one and the modifier does not change the value
/// and failure types.
///
/// Write it as ``ModifiedOperation``, in extensions too: `extension Modified: MyKind where Operation: MyKind`.
// The modifier is the only generic parameter because its type contains the operation's type: naming both would double
// the length of the type with each layer.
public struct Modified<Modifier: OperationModifier>: OperationRequest {
  /// The type of the operation inside.
  public typealias Operation = Modifier.Operation

  public typealias Value = Modifier.Value
  public typealias Failure = Modifier.Failure

  /// The operation inside.
  public let operation: Operation

  /// The modifier around it.
  public let modifier: Modifier

  /// Creates an operation with a modifier around it.
  @inlinable
  public init(operation: Operation, modifier: Modifier) {
    self.operation = operation
    self.modifier = modifier
  }

  @inlinable
  public static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  @inlinable
  public var operationName: String { self.operation.operationName }

  @inlinable
  public func setup(context: inout OperationContext) {
    self.modifier.setup(context: &context, using: self.operation)
  }

  @inlinable
  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }

  // Inlined into the function that protocols call: a frame of its own would take 150 instructions of each layer.
  @inlinable
  @inline(__always)
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Modifier.Value, Modifier.Failure>
  ) async throws(Modifier.Failure) -> Modifier.Value {
    try await self.modifier.run(isolation: isolation, in: context, using: self.operation, with: continuation)
  }
}

/// An operation with a modifier around it, as ``OperationRequest/modifier(_:)`` returns it.
public typealias ModifiedOperation<Operation: OperationRequest, Modifier: OperationModifier> = Modified<Modifier>
where Modifier.Operation == Operation

extension Modified: Sendable where Operation: Sendable {}

extension Modified: OperationPathable
where
  Operation: StatefulOperationRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  @inlinable
  public var path: OperationPath { self.operation.path }
}

extension Modified: StatefulOperationRequest
where
  Operation: StatefulOperationRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  public typealias State = Operation.State

  @inlinable
  public var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  @inlinable
  public func taskName(in context: OperationContext) -> String { self.operation.taskName(in: context) }
}

extension Modified: QueryRequest
where
  Operation: QueryRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  @inlinable
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Modifier.Value, Modifier.Failure>
  ) async throws(Modifier.Failure) -> Modifier.Value {
    try await self.run(isolation: isolation, in: context, with: continuation)
  }
}

extension Modified: DefaultStateRequest
where
  Operation: DefaultStateRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  @inlinable
  public var initialState: Operation.State { self.operation.initialState }
}

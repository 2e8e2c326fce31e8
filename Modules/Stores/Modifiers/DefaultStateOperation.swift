/// An operation that provides the initial state of its store.
public protocol DefaultStateRequest: StatefulOperationRequest {
  /// The initial state of a store of the operation.
  var initialState: State { get }
}

/// An operation whose state has a default value in place of a missing one.
public struct DefaultStateOperation<Operation: StatefulOperationRequest>: DefaultStateRequest
where Operation.State: DefaultableOperationState {
  public typealias State = DefaultOperationState<Operation.State>
  public typealias Value = Operation.Value
  public typealias Failure = Operation.Failure

  /// The operation inside.
  public let operation: Operation

  @usableFromInline let base: @Sendable () -> Operation.State
  @usableFromInline let defaultValue: @Sendable () -> Operation.State.DefaultStateValue

  /// Creates an operation with a default value.
  ///
  /// - Parameters:
  ///   - operation: The operation inside.
  ///   - base: Returns the initial state of the operation inside. Called for each store.
  ///   - defaultValue: Returns the default value. Called for each store.
  @inlinable
  public init(
    _ operation: Operation,
    base: @escaping @Sendable () -> Operation.State,
    defaultValue: @escaping @Sendable () -> Operation.State.DefaultStateValue
  ) {
    self.operation = operation
    self.base = base
    self.defaultValue = defaultValue
  }

  @inlinable
  public static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  @inlinable
  public var operationName: String { self.operation.operationName }

  @inlinable
  public var path: OperationPath { self.operation.path }

  @inlinable
  public var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  @inlinable
  public func taskName(in context: OperationContext) -> String { self.operation.taskName(in: context) }

  @inlinable
  public var initialState: DefaultOperationState<Operation.State> {
    DefaultOperationState(self.base(), defaultValue: self.defaultValue())
  }

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

extension StatefulOperationRequest where State: DefaultableOperationState {
  /// Uses `value` in place of a missing one, for custom request kinds.
  ///
  /// - Parameters:
  ///   - value: The default value, evaluated for each store.
  ///   - initialState: The initial state of a store of this operation, evaluated for each store.
  /// - Returns: The operation, whose state always has a value.
  @inlinable
  public func defaultValue(
    _ value: @autoclosure @escaping @Sendable () -> State.DefaultStateValue,
    initialState: @autoclosure @escaping @Sendable () -> State
  ) -> DefaultStateOperation<Self> {
    DefaultStateOperation(self, base: initialState, defaultValue: value)
  }
}

extension DefaultStateRequest where State: DefaultableOperationState {
  /// Uses `value` in place of a missing one, for custom request kinds that provide their initial state.
  ///
  /// - Parameter value: The default value, evaluated for each store.
  // Disfavored, so that a request kind's own method of this name is used instead.
  @_disfavoredOverload
  @inlinable
  public func defaultValue(
    _ value: @autoclosure @escaping @Sendable () -> State.DefaultStateValue
  ) -> DefaultStateOperation<Self> {
    DefaultStateOperation(self, base: { self.initialState }, defaultValue: value)
  }
}

extension QueryRequest {
  /// This query with a default value.
  public typealias Default = DefaultStateOperation<Self>

  /// Uses `value` in place of a missing one.
  @inlinable
  public func defaultValue(_ value: @autoclosure @escaping @Sendable () -> Value) -> Default {
    DefaultStateOperation(self, base: { QueryState() }, defaultValue: value)
  }
}

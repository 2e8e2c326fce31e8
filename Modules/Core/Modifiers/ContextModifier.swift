/// Writes to the context of an operation, and leaves its runs as they are.
public struct ContextModifier<Operation: OperationRequest>: OperationModifier {
  /// Which writes win where this modifier and the operation inside write the same.
  @usableFromInline
  enum Precedence: Sendable {
    /// The operation's, as it is nearer to the work.
    case operation
    /// This modifier's, which sees what the operation has written and adds to it.
    case modifier
  }

  @usableFromInline let precedence: Precedence
  @usableFromInline let edit: @Sendable (inout OperationContext) -> Void

  @inlinable
  init(_ precedence: Precedence = .operation, edit: @escaping @Sendable (inout OperationContext) -> Void) {
    self.precedence = precedence
    self.edit = edit
  }

  @inlinable
  public func setup(context: inout OperationContext, using operation: Operation) {
    switch self.precedence {
    case .operation:
      self.edit(&context)
      operation.setup(context: &context)
    case .modifier:
      operation.setup(context: &context)
      self.edit(&context)
    }
  }

  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// An operation whose context a modifier writes to.
public typealias ContextModifiedOperation<Operation: OperationRequest> =
  ModifiedOperation<Operation, ContextModifier<Operation>>

extension OperationRequest {
  /// Writes to the context of the operation: `.context { $0.greeting = "hi" }`.
  ///
  /// Where the operation inside writes the same entry, its value stays.
  @inlinable
  public func context(
    _ edit: @escaping @Sendable (inout OperationContext) -> Void
  ) -> ContextModifiedOperation<Self> {
    self.modifier(ContextModifier(edit: edit))
  }

  /// Dates the values and errors of the operation by `clock`.
  @inlinable
  public func clock(_ clock: some OperationClock & Sendable) -> ContextModifiedOperation<Self> {
    self.context { $0.operationClock = clock }
  }

  /// Makes the tasks of the operation as `configuration` says.
  @inlinable
  public func taskConfiguration(_ configuration: OperationTaskConfiguration) -> ContextModifiedOperation<Self> {
    self.context { $0.operationTaskConfiguration = configuration }
  }

  /// Makes the tasks of the operation as the configuration says that `edit` has edited.
  @inlinable
  public func taskConfiguration(
    _ edit: @escaping @Sendable (inout OperationTaskConfiguration) -> Void
  ) -> ContextModifiedOperation<Self> {
    self.context { edit(&$0.operationTaskConfiguration) }
  }
}

extension StatefulOperationRequest {
  /// Adds to the configuration of the operation, after what it has configured itself.
  @inlinable
  func adding(_ edit: @escaping @Sendable (inout OperationContext) -> Void) -> ContextModifiedOperation<Self> {
    self.modifier(ContextModifier(.modifier, edit: edit))
  }
}

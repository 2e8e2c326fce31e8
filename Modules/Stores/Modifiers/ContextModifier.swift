/// Edits the context of an operation without changing its runs.
public struct ContextModifier<Operation: OperationRequest>: OperationModifier {
  /// Which value is used if this modifier and the operation inside set the same entry.
  @usableFromInline
  enum Precedence: Sendable {
    /// The operation's value: the operation sets up the context after this modifier.
    case operation
    /// The modifier's value: the modifier edits the context last, and can extend what the operation has set.
    case modifier
  }

  @usableFromInline let precedence: Precedence
  @usableFromInline let edit: @Sendable (inout OperationContext) -> Void
  #if DEBUG
    @usableFromInline var text = ".context { … }"
  #endif

  @inlinable
  init(_ precedence: Precedence = .operation, edit: @escaping @Sendable (inout OperationContext) -> Void) {
    self.precedence = precedence
    self.edit = edit
  }

  public static var beginsAtOnce: Bool { true }

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

  public var sourceText: String {
    #if DEBUG
      self.text
    #else
      ".context { … }"
    #endif
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

/// An operation with a ``ContextModifier`` around it.
public typealias ContextModifiedOperation<Operation: OperationRequest> =
  ModifiedOperation<Operation, ContextModifier<Operation>>

extension Modified {
  /// Names a modifier as a user has written it. Only debug builds compare names, so others do not evaluate `text`.
  @inlinable
  package func written<Base>(_ text: @autoclosure () -> String) -> Self where Modifier == ContextModifier<Base> {
    #if DEBUG
      var modifier = self.modifier
      modifier.text = text()
      return Self(operation: self.operation, modifier: modifier)
    #else
      return self
    #endif
  }
}

extension OperationRequest {
  /// Edits the context of the operation: `.context { $0.greeting = "hi" }`.
  ///
  /// If the operation inside sets the same entry, the value of the operation is used.
  @inlinable
  public func context(
    _ edit: @escaping @Sendable (inout OperationContext) -> Void
  ) -> ContextModifiedOperation<Self> {
    self.modifier(ContextModifier(edit: edit))
  }

  /// Uses `clock` to date the values and errors of the operation.
  @inlinable
  public func clock(_ clock: some OperationClock & Sendable) -> ContextModifiedOperation<Self> {
    self.context { $0.operationClock = clock }.written(".clock(\(type(of: clock)))")
  }

  /// Sets the configuration of the operation's tasks.
  @inlinable
  public func taskConfiguration(_ configuration: OperationTaskConfiguration) -> ContextModifiedOperation<Self> {
    self.context { $0.operationTaskConfiguration = configuration }.written(".taskConfiguration(_:)")
  }

  /// Edits the configuration of the operation's tasks.
  @inlinable
  public func taskConfiguration(
    _ edit: @escaping @Sendable (inout OperationTaskConfiguration) -> Void
  ) -> ContextModifiedOperation<Self> {
    self.context { edit(&$0.operationTaskConfiguration) }.written(".taskConfiguration { … }")
  }
}

extension StatefulOperationRequest {
  /// Edits the context after the operation has set it up, so that `edit` can extend the operation's entries.
  @inlinable
  package func adding(_ edit: @escaping @Sendable (inout OperationContext) -> Void) -> ContextModifiedOperation<Self> {
    self.modifier(ContextModifier(.modifier, edit: edit))
  }
}

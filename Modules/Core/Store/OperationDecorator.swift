/// Puts a modifier around operations when stores are made of them, outside of all others: for modules that measure.
@usableFromInline
package protocol OperationDecorator: Sendable {
  /// The operation with the modifier around it, or as it is.
  func decorated<Operation: StatefulOperationRequest>(
    _ operation: Operation
  ) -> any StatefulOperationRequest<Operation.State>
}

extension OperationContext {
  /// What is put around the operations of the stores that begin with this context, the innermost first.
  ///
  /// A store takes them out: what the body of its operation makes with its context is decorated no more.
  package var operationDecorators: [any OperationDecorator] {
    get { self[DecoratorsKey.self] }
    set { self[DecoratorsKey.self] = newValue }
  }

  /// Lets the decorated operation set up the context, and boxes it.
  @inlinable
  mutating func setUpBox<Operation: StatefulOperationRequest>(for operation: Operation) -> OperationBox<Operation.State>
  {
    if self.isSet(DecoratorsKey.self) { return self.setUpDecoratedBox(for: operation) }
    operation.setup(context: &self)
    return self.box(operation)
  }

  @usableFromInline
  mutating func setUpDecoratedBox<Operation: StatefulOperationRequest>(
    for operation: Operation
  ) -> OperationBox<Operation.State> {
    let decorators = self.operationDecorators
    self.operationDecorators = []
    return self.setUpBox(for: operation, in: decorators[...])
  }

  private mutating func setUpBox<Operation: StatefulOperationRequest>(
    for operation: Operation,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox<Operation.State> {
    guard let decorator = decorators.first else {
      operation.setup(context: &self)
      return self.box(operation)
    }
    return self.setUpBox(forAny: decorator.decorated(operation), in: decorators.dropFirst())
  }

  private mutating func setUpBox<State: OperationState & Sendable>(
    forAny operation: any StatefulOperationRequest<State>,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox<State> {
    self.setUpBox(for: operation, in: decorators)
  }

  @usableFromInline
  enum DecoratorsKey: Key {
    @usableFromInline static let defaultValue: [any OperationDecorator] = []
  }
}

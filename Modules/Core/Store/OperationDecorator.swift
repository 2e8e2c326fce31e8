/// Adds an outermost modifier to the operations that stores are created for.
///
/// Modules that measure runs use it.
@usableFromInline
package protocol OperationDecorator: Sendable {
  /// Returns the operation with the modifier added, or the operation itself.
  func decorated<Operation: StatefulOperationRequest>(
    _ operation: Operation
  ) -> any StatefulOperationRequest<Operation.State>
}

extension OperationContext {
  /// The decorators for the operations of stores that are created with this context, innermost first.
  ///
  /// A store removes them from its own context, so stores that its operation creates with that context are not
  /// decorated.
  package var operationDecorators: [any OperationDecorator] {
    get { self[DecoratorsKey.self] }
    set { self[DecoratorsKey.self] = newValue }
  }

  /// Decorates the operation, calls its `setup` with this context, and returns it in a box.
  @inlinable
  mutating func setUpBox<Operation: StatefulOperationRequest>(for operation: Operation) -> OperationBox {
    if self.isSet(DecoratorsKey.self) { return self.setUpDecoratedBox(for: operation) }
    operation.setup(context: &self)
    return self.box(operation)
  }

  @usableFromInline
  mutating func setUpDecoratedBox<Operation: StatefulOperationRequest>(
    for operation: Operation
  ) -> OperationBox {
    let decorators = self.operationDecorators
    self.operationDecorators = []
    return self.setUpBox(for: operation, in: decorators[...])
  }

  private mutating func setUpBox<Operation: StatefulOperationRequest>(
    for operation: Operation,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox {
    guard let decorator = decorators.first else {
      operation.setup(context: &self)
      return self.box(operation)
    }
    return self.setUpBox(forAny: decorator.decorated(operation), in: decorators.dropFirst())
  }

  private mutating func setUpBox<State: OperationState & Sendable>(
    forAny operation: any StatefulOperationRequest<State>,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox {
    self.setUpBox(for: operation, in: decorators)
  }

  @usableFromInline
  enum DecoratorsKey: Key {
    @usableFromInline static let defaultValue: [any OperationDecorator] = []
  }
}

/// Adds an outermost modifier to the operations that stores are created for.
///
/// Modules that measure runs use it.
public protocol OperationDecorator: Sendable {
  /// Returns the operation with the modifier added, or the operation itself.
  func decorated<Operation: StatefulOperationRequest>(
    _ operation: Operation
  ) -> any StatefulOperationRequest<Operation.State>
}

extension OperationContext {
  /// The decorators for the operations of stores that are created with this context, innermost first.
  ///
  /// A store removes them from its own context. If its operation makes other stores with that context, those are not
  /// decorated.
  public var operationDecorators: [any OperationDecorator] {
    get { self[DecoratorsKey.self] }
    set { self[DecoratorsKey.self] = newValue }
  }

  @usableFromInline
  enum DecoratorsKey: Key {
    @usableFromInline static let defaultValue: [any OperationDecorator] = []
  }
}

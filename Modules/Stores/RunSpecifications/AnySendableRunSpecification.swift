/// A type-erased condition.
public struct AnySendableRunSpecification: OperationRunSpecification, Sendable {
  /// The wrapped condition.
  public let base: any OperationRunSpecification & Sendable

  /// Wraps a condition.
  public init(_ base: any OperationRunSpecification & Sendable) {
    self.base = base
  }

  public func isSatisfied(in context: OperationContext) -> Bool { self.base.isSatisfied(in: context) }

  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.base.subscribe(in: context, onChange: onChange)
  }
}

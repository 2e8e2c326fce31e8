/// A condition that is satisfied when another one is not: the result of `!`.
public struct NotRunSpecification<Base: OperationRunSpecification>: OperationRunSpecification {
  /// The condition that must not be satisfied.
  public let base: Base

  /// Creates a condition that is satisfied when `base` is not.
  public init(_ base: Base) {
    self.base = base
  }

  public func isSatisfied(in context: OperationContext) -> Bool { !self.base.isSatisfied(in: context) }

  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.base.subscribe(in: context, onChange: onChange)
  }
}

extension NotRunSpecification: Sendable where Base: Sendable {}

/// A condition that combines two others: the result of `&&` and of `||`.
public struct BinaryOperatorRunSpecification<
  Left: OperationRunSpecification,
  Right: OperationRunSpecification
>: OperationRunSpecification {
  /// The ways to combine two conditions.
  public enum Operator: Hashable, Sendable {
    /// Both conditions must be satisfied.
    case and
    /// At least one condition must be satisfied.
    case or
  }

  /// The first condition.
  public let left: Left

  /// The second condition, evaluated only when the first does not decide the result.
  public let right: Right

  /// How the two conditions are combined.
  public let `operator`: Operator

  /// Creates a condition that combines two others.
  public init(_ left: Left, _ operator: Operator, _ right: Right) {
    self.left = left
    self.right = right
    self.operator = `operator`
  }

  public func isSatisfied(in context: OperationContext) -> Bool {
    switch self.operator {
    case .and: self.left.isSatisfied(in: context) && self.right.isSatisfied(in: context)
    case .or: self.left.isSatisfied(in: context) || self.right.isSatisfied(in: context)
    }
  }

  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    .combined(
      self.left.subscribe(in: context, onChange: onChange),
      self.right.subscribe(in: context, onChange: onChange)
    )
  }
}

extension BinaryOperatorRunSpecification: Sendable where Left: Sendable, Right: Sendable {}

/// Returns a condition that is satisfied when `specification` is not.
public prefix func ! <Base: OperationRunSpecification>(specification: Base) -> NotRunSpecification<Base> {
  NotRunSpecification(specification)
}

/// Returns a condition that is satisfied when both conditions are.
public func && <Left: OperationRunSpecification, Right: OperationRunSpecification>(
  left: Left,
  right: Right
) -> BinaryOperatorRunSpecification<Left, Right> {
  BinaryOperatorRunSpecification(left, .and, right)
}

/// Returns a condition that is satisfied when at least one of the two conditions is.
public func || <Left: OperationRunSpecification, Right: OperationRunSpecification>(
  left: Left,
  right: Right
) -> BinaryOperatorRunSpecification<Left, Right> {
  BinaryOperatorRunSpecification(left, .or, right)
}

/// A condition that holds when another one does not: what `!` makes.
public struct NotRunSpecification<Base: OperationRunSpecification>: OperationRunSpecification {
  /// The condition that must not hold.
  public let base: Base

  /// Creates a condition that holds when `base` does not.
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

/// A condition made of two others: what `&&` and `||` make.
public struct BinaryOperatorRunSpecification<
  Left: OperationRunSpecification,
  Right: OperationRunSpecification
>: OperationRunSpecification {
  /// How the two are combined.
  public enum Operator: Hashable, Sendable {
    /// Both must hold.
    case and
    /// One must hold.
    case or
  }

  /// The first condition.
  public let left: Left

  /// The second condition, which is only looked at when the first does not decide.
  public let right: Right

  /// How the two are combined.
  public let `operator`: Operator

  /// Creates a condition out of two.
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

/// A condition that holds when `specification` does not.
public prefix func ! <Base: OperationRunSpecification>(specification: Base) -> NotRunSpecification<Base> {
  NotRunSpecification(specification)
}

/// A condition that holds when both do.
public func && <Left: OperationRunSpecification, Right: OperationRunSpecification>(
  left: Left,
  right: Right
) -> BinaryOperatorRunSpecification<Left, Right> {
  BinaryOperatorRunSpecification(left, .and, right)
}

/// A condition that holds when one of the two does.
public func || <Left: OperationRunSpecification, Right: OperationRunSpecification>(
  left: Left,
  right: Right
) -> BinaryOperatorRunSpecification<Left, Right> {
  BinaryOperatorRunSpecification(left, .or, right)
}

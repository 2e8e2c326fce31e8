public import OperationCore

/// Checks another condition without the work that may make it true.
///
/// `SilentCondition(LoggedIn())` checks whether the user is logged in, and never asks for a login.
public struct SilentCondition<Base: OperationCondition>: OperationCondition {
  /// The condition that is checked.
  public let base: Base

  /// Creates a condition that checks `base` alone.
  public init(_ base: Base) {
    self.base = base
  }

  public static var isMutuallyExclusive: Bool { Base.isMutuallyExclusive }

  public var exclusionCategories: [OperationCategory] { self.base.exclusionCategories }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    await self.base.evaluate(in: context)
  }
}

/// A condition that is satisfied when another one is not.
///
/// It is satisfied when `base` denies or skips, and denies with ``OperationConditionDenied`` when `base` is satisfied.
/// The work that may make `base` true still runs; wrap `base` in a ``SilentCondition`` to leave it out.
public struct NegatedCondition<Base: OperationCondition>: OperationCondition {
  /// The condition that must not be satisfied.
  public let base: Base

  /// Creates a condition that is satisfied when `base` is not.
  public init(_ base: Base) {
    self.base = base
  }

  public static var isMutuallyExclusive: Bool { Base.isMutuallyExclusive }

  public var exclusionCategories: [OperationCategory] { self.base.exclusionCategories }

  public func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? {
    self.base.dependency(in: context)
  }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    switch await self.base.evaluate(in: context) {
    case .satisfied: .denied(OperationConditionDenied(conditionName: self.conditionName))
    case .skipped, .denied: .satisfied
    }
  }
}

/// A condition that is always satisfied, and lets operations of one category run one at a time.
///
/// ```swift
/// enum Alert {}
/// let networkAlert = ShowNetworkAlert().condition(MutuallyExclusive<Alert>())
/// let basicAlert = ShowBasicAlert().condition(MutuallyExclusive<Alert>())
/// ```
///
/// It is the same as `.mutuallyExclusive(Alert.self)`.
public struct MutuallyExclusive<Category>: OperationCondition {
  /// Creates a condition.
  public init() {}

  public static var isMutuallyExclusive: Bool { true }

  public var exclusionCategories: [OperationCategory] { [OperationCategory(Category.self)] }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
}

/// A condition that holds while a run specification does.
///
/// `.condition(_:)` accepts run specifications directly; use this type to combine one with other conditions.
public struct SpecificationCondition<Specification: OperationRunSpecification & Sendable>: OperationCondition {
  /// The run specification.
  public let specification: Specification

  /// Creates a condition that holds while `specification` does.
  public init(_ specification: Specification) {
    self.specification = specification
  }

  /// Denies with ``OperationConditionDenied`` when the specification is not satisfied.
  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    if self.specification.isSatisfied(in: context) { return .satisfied }
    return .denied(OperationConditionDenied(conditionName: OperationName.of(Specification.self)))
  }
}

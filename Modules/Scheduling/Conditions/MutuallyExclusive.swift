public import OperationCore

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

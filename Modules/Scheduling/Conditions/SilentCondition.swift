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

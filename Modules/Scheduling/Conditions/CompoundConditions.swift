public import OperationCore

/// A condition that is satisfied when two others are, as `&&` returns it.
///
/// The conditions are evaluated in order. A denial ends the evaluation and is the result. Otherwise a skip is the
/// result if there is one: it wins over a condition that is satisfied.
public struct AndCondition<Left: OperationCondition, Right: OperationCondition>: OperationCondition {
  /// The condition that is evaluated first.
  public let left: Left

  /// The condition that is evaluated second.
  public let right: Right

  /// Creates a condition that is satisfied when both are.
  public init(_ left: Left, _ right: Right) {
    self.left = left
    self.right = right
  }

  public static var isMutuallyExclusive: Bool { Left.isMutuallyExclusive || Right.isMutuallyExclusive }

  public var exclusionCategories: [OperationCategory] {
    self.left.exclusionCategories + self.right.exclusionCategories
  }

  /// The work of both conditions, in order.
  public func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)? {
    DependencySequence.combining(
      await self.left.dependency(in: context),
      await self.right.dependency(in: context)
    )
  }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    switch await self.left.evaluate(in: context) {
    case .denied(let error):
      return .denied(error)
    case .satisfied:
      return await self.right.evaluate(in: context)
    case .skipped:
      let second = await self.right.evaluate(in: context)
      return if case .denied = second { second } else { .skipped }
    }
  }
}

/// A condition that is satisfied when at least one of two others is, as `||` returns it.
///
/// Both are evaluated at once. The first that is satisfied decides, and the evaluation of the other is cancelled. If
/// none is, the result is a denial with the errors of those that deny, or a skip if none denies.
///
/// A condition that would wait in a cycle is not satisfied, and the cycle is reported only if the other one is not
/// satisfied either.
public struct OrCondition<Left: OperationCondition, Right: OperationCondition>: OperationCondition {
  /// The first condition.
  public let left: Left

  /// The second condition.
  public let right: Right

  /// Creates a condition that is satisfied when at least one of the two is.
  public init(_ left: Left, _ right: Right) {
    self.left = left
    self.right = right
  }

  public static var isMutuallyExclusive: Bool { Left.isMutuallyExclusive || Right.isMutuallyExclusive }

  public var exclusionCategories: [OperationCategory] {
    self.left.exclusionCategories + self.right.exclusionCategories
  }

  /// The work of both conditions, in order.
  public func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)? {
    DependencySequence.combining(
      await self.left.dependency(in: context),
      await self.right.dependency(in: context)
    )
  }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    await withTaskGroup(of: Alternative.self) { group in
      group.addTask { await Alternative(isLeft: true) { await self.left.evaluate(in: context) } }
      group.addTask { await Alternative(isLeft: false) { await self.right.evaluate(in: context) } }
      var errors: (left: (any Error)?, right: (any Error)?)
      var cycles: [OperationCycleError] = []
      for await alternative in group {
        switch alternative.result {
        case .satisfied:
          group.cancelAll()
          for cycle in alternative.cycles { cycle.report() }
          return .satisfied
        case .skipped: break
        case .denied(let error):
          if alternative.isLeft { errors.left = error } else { errors.right = error }
        }
        cycles += alternative.cycles
      }
      for cycle in cycles { cycle.report() }
      switch (errors.left, errors.right) {
      case (nil, nil): return .skipped
      case (let error?, nil), (nil, let error?): return .denied(error)
      case (let left?, let right?):
        return .denied(OperationAlternativesDenied(errors: left.alternatives + right.alternatives))
      }
    }
  }
}

/// What became of one of two conditions.
private struct Alternative: Sendable {
  let isLeft: Bool
  let result: OperationConditionResult
  /// The cycles that its evaluation would have closed.
  let cycles: [OperationCycleError]

  init(isLeft: Bool, _ evaluate: nonisolated(nonsending) () async -> OperationConditionResult) async {
    self.isLeft = isLeft
    (self.result, self.cycles) = await OperationCycleError.deferringReports(evaluate)
  }
}

extension Error {
  /// The errors of all alternatives, so that `a || b || c` and `a || (b || c)` have one list of errors.
  fileprivate var alternatives: [any Error] { (self as? OperationAlternativesDenied)?.errors ?? [self] }
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

  public func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)? {
    await self.base.dependency(in: context)
  }

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    switch await self.base.evaluate(in: context) {
    case .satisfied: .denied(OperationConditionDenied(conditionName: self.conditionName))
    case .skipped, .denied: .satisfied
    }
  }
}

/// Combines two conditions that are both needed: see ``AndCondition``.
///
/// - Parameters:
///   - left: The condition that is evaluated first.
///   - right: The condition that is evaluated second.
/// - Returns: A condition that is satisfied when both are.
public func && <Left: OperationCondition, Right: OperationCondition>(
  left: Left,
  right: Right
) -> AndCondition<Left, Right> {
  AndCondition(left, right)
}

/// Combines two conditions of which one suffices: see ``OrCondition``.
///
/// - Parameters:
///   - left: The first condition.
///   - right: The second condition.
/// - Returns: A condition that is satisfied when at least one of the two is.
public func || <Left: OperationCondition, Right: OperationCondition>(
  left: Left,
  right: Right
) -> OrCondition<Left, Right> {
  OrCondition(left, right)
}

/// Negates a condition: see ``NegatedCondition``.
///
/// - Parameter condition: The condition that must not be satisfied.
/// - Returns: A condition that is satisfied when `condition` is not.
public prefix func ! <Base: OperationCondition>(condition: Base) -> NegatedCondition<Base> {
  NegatedCondition(condition)
}

public import OperationCore

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

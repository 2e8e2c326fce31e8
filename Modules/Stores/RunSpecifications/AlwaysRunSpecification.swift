/// A condition that is either always or never satisfied.
public struct AlwaysRunSpecification: OperationRunSpecification, Sendable, Hashable {
  /// Whether the condition is satisfied.
  public let isTrue: Bool

  /// Creates a condition that is always satisfied when `isTrue` is true, and never otherwise.
  public init(isTrue: Bool) {
    self.isTrue = isTrue
  }

  public func isSatisfied(in context: OperationContext) -> Bool { self.isTrue }
}

extension OperationRunSpecification where Self == AlwaysRunSpecification {
  /// A condition that is always satisfied when `isTrue` is true, and never otherwise.
  public static func always(_ isTrue: Bool) -> Self { AlwaysRunSpecification(isTrue: isTrue) }
}

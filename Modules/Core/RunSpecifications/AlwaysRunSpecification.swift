/// A condition that always holds, or never.
public struct AlwaysRunSpecification: OperationRunSpecification, Sendable, Hashable {
  /// Whether the condition holds.
  public let isTrue: Bool

  /// Creates a condition that holds always when `isTrue`, and never otherwise.
  public init(isTrue: Bool) {
    self.isTrue = isTrue
  }

  public func isSatisfied(in context: OperationContext) -> Bool { self.isTrue }
}

extension OperationRunSpecification where Self == AlwaysRunSpecification {
  /// A condition that holds always when `isTrue`, and never otherwise.
  public static func always(_ isTrue: Bool) -> Self { AlwaysRunSpecification(isTrue: isTrue) }
}

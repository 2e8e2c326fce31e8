internal import OperationCore

/// A category of operations that run one at a time.
///
/// A category is named by a value or by a type. Values of different types name different categories.
public struct OperationCategory: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private enum Name: Hashable, Sendable {
    case value(OperationPath.Element)
    case type(ObjectIdentifier)
  }

  private let name: Name

  public let description: String

  /// Creates a category that is named by a value. A category created from a category is that category.
  public init(_ value: some Hashable & Sendable) {
    if let category = value as? OperationCategory {
      self = category
    } else {
      self.name = .value(OperationPath.Element(value))
      self.description = ShownText.of(value: value, otherwise: "\(value)")
    }
  }

  /// Creates a category that is named by a type, which needs no values.
  public init(_ type: any Any.Type) {
    self.name = .type(ObjectIdentifier(type))
    self.description = OperationName.of(type)
  }

  /// Creates a category that is named by a string.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.name)
  }
}

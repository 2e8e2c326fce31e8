/// A member of arguments or of a value that is never stored, and is nil after a restart.
///
/// ```swift
/// struct SignIn: Codable, Sendable {
///   var name: String
///   @Unstored var password: String?
/// }
/// ```
///
/// Its value is neither encoded nor shown in descriptions.
@propertyWrapper
public struct Unstored<Value: Sendable>: Sendable {
  /// The value; nil after it was decoded.
  public var wrappedValue: Value?

  /// Creates a member.
  ///
  /// - Parameter wrappedValue: The value.
  public init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }
}

extension Unstored: Codable {
  /// Creates a member that is nil, and ignores the stored bytes.
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: nil)
  }

  /// Encodes nil.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension Unstored: Equatable where Value: Equatable {}

extension Unstored: Hashable where Value: Hashable {}

extension Unstored: CustomStringConvertible, CustomReflectable {
  public var description: String { self.wrappedValue == nil ? "nil" : "(not shown)" }

  /// Shows no members.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeyedDecodingContainer {
  /// Decodes a member that may be missing. Its value is nil.
  public func decode<Value>(_ type: Unstored<Value>.Type, forKey key: Key) throws -> Unstored<Value> {
    Unstored(wrappedValue: nil)
  }
}

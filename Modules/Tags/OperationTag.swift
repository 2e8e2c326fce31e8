package import OperationCore

/// A name for what a value contains, by which stores are found and invalidated.
///
/// ```swift
/// let posts: OperationTag = "posts"               // Anything about posts.
/// let one = OperationTag.entity("post", post.id)  // One post, in whichever value it is.
/// ```
///
/// Tags are equal if they have the same name and equal identifiers of the same type: a tag of the
/// `Int` 1 and a tag of the `Int64` 1 differ. A client compares and hashes tags with a lock held, so `==` and `hash(into:)` of an identifier must
/// not use a store or a client.
public struct OperationTag: Hashable, Sendable {
  // A reference: an index keeps each tag once, and its stores share it.
  let content: TagContent

  /// Creates a tag that is only a name.
  ///
  /// - Parameter name: The name.
  public init(_ name: String) {
    self.content = TagContent(name)
  }

  private init(_ content: TagContent) {
    self.content = content
  }

  /// Creates the tag of one thing of a kind.
  ///
  /// - Parameters:
  ///   - kind: The name of the kind.
  ///   - id: The identifier of the thing within its kind.
  /// - Returns: The tag, which differs from the tag of the name alone.
  public static func entity(_ kind: String, _ id: some Hashable & Sendable) -> OperationTag {
    OperationTag(EntityTagContent(kind, id))
  }

  /// Whether two tags have the same name and equal identifiers of the same type, or no identifiers.
  public static func == (lhs: OperationTag, rhs: OperationTag) -> Bool {
    lhs.content === rhs.content || lhs.content.isEqual(to: rhs.content)
  }

  /// Feeds the name and the identifier to a hasher.
  public func hash(into hasher: inout Hasher) {
    self.content.hash(into: &hasher)
  }
}

extension OperationTag: ExpressibleByStringLiteral {
  /// Creates a tag that is only a name: `.tagged("posts")`.
  public init(stringLiteral name: String) {
    self.init(name)
  }
}

extension OperationTag {
  /// The tag as a path: its name, and its identifier if it has one.
  package var path: OperationPath {
    self.content.id.map { [self.content.name, $0] } ?? OperationPath(self.content.name)
  }
}

extension OperationTag: CustomStringConvertible {
  /// The name, followed by the identifier in parentheses: `post(5)`.
  public var description: String { self.content.description }
}

extension [OperationTag] {
  /// The tags for a sentence: `the tags post(1), posts`.
  var explanation: String {
    (self.count == 1 ? "the tag " : "the tags ") + self.map(\.description).joined(separator: ", ")
  }
}

/// The content of a tag without an identifier, and the base class of those with one.
class TagContent: @unchecked Sendable {
  // Unchecked because the compiler checks only final classes. All fields, also of the subclass, are immutable.
  final let name: String

  init(_ name: String) {
    self.name = name
  }

  func isEqual(to other: TagContent) -> Bool { type(of: other) == TagContent.self && self.name == other.name }

  func hash(into hasher: inout Hasher) {
    hasher.combine(self.name)
  }

  var description: String { self.name }

  /// The identifier; nil for a tag without one.
  var id: OperationPath.Element? { nil }
}

/// The content of a tag with an identifier.
final class EntityTagContent<ID: Hashable & Sendable>: TagContent, @unchecked Sendable {
  // Unchecked like its base class.
  private let entityID: ID

  init(_ name: String, _ id: ID) {
    self.entityID = id
    super.init(name)
  }

  override func isEqual(to other: TagContent) -> Bool {
    guard type(of: other) == EntityTagContent<ID>.self else { return false }
    // Of the same type.
    let other = unsafeDowncast(other, to: EntityTagContent<ID>.self)
    return self.entityID == other.entityID && self.name == other.name
  }

  override func hash(into hasher: inout Hasher) {
    hasher.combine(self.name)
    hasher.combine(self.entityID)
  }

  override var id: OperationPath.Element? { OperationPath.Element(self.entityID) }

  override var description: String {
    "\(self.name)(\(ShownText.of(value: self.entityID)))"
  }
}

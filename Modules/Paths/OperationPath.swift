/// The path of an operation: a list of hashable elements that identifies its state and can be matched by prefix.
///
/// ```swift
/// let path: OperationPath = ["users", 1, "friends"]
/// let users: OperationPath = ["users"]
/// users.isPrefix(of: path)  // true
/// ```
///
/// Two paths are equal if they have the same number of elements and each pair of elements is equal. Elements are equal
/// if their values have the same dynamic type and are equal: `1` and `UInt8(1)` are not. A value in a literal is one
/// element, even if it is an array, an optional or a path.
///
/// - Precondition: `==` and `hash(into:)` of elements use no client and no store. A client has a lock held while it
///   compares paths.
public struct OperationPath: Hashable, Sendable {
  var elements: [Element]

  /// Creates the empty path, which is a prefix of every path.
  public init() {
    self.elements = []
  }

  /// Creates a path from values of any types, each of which becomes one element.
  ///
  /// - Parameter elements: The values, outermost first.
  /// - Complexity: O(*n*) in the number of values.
  public init(elements: [any Hashable & Sendable]) {
    self.elements = elements.map { Element($0) }
  }

  /// Creates a path from values of any types, each of which becomes one element.
  ///
  /// - Parameter elements: The values, outermost first.
  /// - Complexity: O(*n*) in the number of values.
  public init(_ elements: [any Hashable & Sendable]) {
    self.init(elements: elements)
  }

  /// Creates a path from a sequence of elements, such as another path or a slice of one.
  ///
  /// - Parameter elements: The elements, outermost first.
  /// - Complexity: O(*n*) in the number of elements, O(1) for a path or an array.
  public init(_ elements: some Sequence<Element>) {
    if let path = elements as? OperationPath {
      self = path
    } else {
      self.elements = Array(elements)
    }
  }

  /// Creates a path from a sequence of values, each of which becomes one element.
  ///
  /// - Parameter values: The values, outermost first.
  /// - Complexity: O(*n*) in the number of values.
  public init<Value: Hashable & Sendable>(_ values: some Sequence<Value>) {
    self.elements = values.map { Element($0) }
  }

  /// Creates a path of one element.
  ///
  /// A sequence of hashable values, such as an array, becomes a path of its elements instead.
  ///
  /// - Parameter element: The value that becomes the element.
  @_disfavoredOverload
  public init(_ element: any Hashable & Sendable) {
    self.elements = [Element(element)]
  }

  /// Creates a path of one string. The string is not split into characters.
  ///
  /// - Parameter element: The string that becomes the element.
  public init(_ element: String) {
    self.elements = [Element(element)]
  }

  /// Creates a path of one substring. The substring is not split into characters.
  ///
  /// - Parameter element: The substring that becomes the element, which is not equal to a `String` element.
  public init(_ element: Substring) {
    self.elements = [Element(element)]
  }
}

extension OperationPath: ExpressibleByArrayLiteral {
  /// Creates a path from the values of a literal, each of which becomes one element.
  public init(arrayLiteral elements: (any Hashable & Sendable)...) {
    self.init(elements: elements)
  }
}

extension OperationPath {
  /// Compares the first elements of another path with the elements of this path.
  ///
  /// - Parameter other: The other path.
  /// - Returns: Whether the other path starts with this path. Every path starts with the empty path and with itself.
  /// - Complexity: O(*n*) in the number of elements of this path.
  public func isPrefix(of other: OperationPath) -> Bool {
    elements.count <= other.elements.count && other.elements.starts(with: elements)
  }
}

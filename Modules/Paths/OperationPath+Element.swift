extension OperationPath {
  /// One part of a path: a hashable value of any type.
  ///
  /// Elements are equal if their values have the same dynamic type and are equal. Two values that are not equal to
  /// themselves, such as `Double.nan` or a structure that contains it, are equal as elements if they have the same type
  /// and the same hash value. (An array that contains such a value is an exception: it is equal to its copies, but not
  /// to another array of the same values.)
  public struct Element: Hashable, Sendable {
    @usableFromInline
    enum Payload: Sendable {
      case string(String)
      case int(Int)
      case erased(any ErasedPathElement)
    }

    @usableFromInline let payload: Payload

    /// Creates an element from a value. An element created from an element is that element.
    ///
    /// - Parameter base: The value.
    @inlinable
    public init<Base: Hashable & Sendable>(_ base: Base) {
      // `as?` would convert (bridging, optionals).
      if Base.self == String.self {
        self.payload = .string(unsafeBitCast(base, to: String.self))  // From the same type.
      } else if Base.self == Int.self {
        self.payload = .int(unsafeBitCast(base, to: Int.self))  // From the same type.
      } else if Base.self == Element.self {
        self = unsafeBitCast(base, to: Element.self)  // From the same type.
      } else {
        self.payload = .erased(erasedPathElement(base))
      }
    }

    /// Creates an element from a value of unknown type. An element created from an element is that element.
    ///
    /// - Parameter base: The value.
    @_disfavoredOverload
    public init(_ base: any Hashable & Sendable) {
      self = Self.wrapping(base)
    }

    // Not an overload of the initializers, so that the existential is always opened.
    private static func wrapping(_ base: some Hashable & Sendable) -> Element { Element(base) }

    /// The value that this element was created from.
    public var base: any Hashable & Sendable {
      switch payload {
      case .string(let string): string
      case .int(let int): int
      case .erased(let erased): erased.base
      }
    }

    /// Whether two elements hold equal values of the same dynamic type.
    public static func == (lhs: Self, rhs: Self) -> Bool {
      switch (lhs.payload, rhs.payload) {
      case (.string(let lhs), .string(let rhs)): lhs == rhs
      case (.int(let lhs), .int(let rhs)): lhs == rhs
      case (.erased(let lhs), .erased(let rhs)): lhs.isEqual(to: rhs)
      default: false
      }
    }

    /// Feeds the type and the value of this element to a hasher.
    public func hash(into hasher: inout Hasher) {
      switch payload {
      case .string(let string): hasher.combine(string)
      case .int(let int): hasher.combine(int)
      case .erased(let erased): erased.hash(into: &hasher)
      }
    }
  }
}

extension OperationPath.Element: CustomStringConvertible {
  /// The element's value as text, quoted if it is a string.
  public var description: String {
    switch payload {
    case .string(let string): string.debugDescription
    case .int(let int): int.description
    case .erased(let erased): erased.description
    }
  }
}

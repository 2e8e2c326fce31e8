extension ShownText {
  private static let maximumParts = 1_000
  // The limit also ends a walk through objects that refer to each other.
  fileprivate static let maximumDepth = 24

  /// The text of a value, in which the names of types replace the parts that are secret.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - text: The text of a value without a secret.
  /// - Returns: The text, or the name of the type if the value has more parts than are looked at.
  package static func of(value: Any, otherwise text: @autoclosure () -> String) -> String {
    var search = SecretSearch(rest: self.maximumParts)
    return switch search.find(in: value) {
    case .nothing: text()
    case .secret: self.withoutSecrets(value, at: 0)
    case .unknown: "\(type(of: value))"
    }
  }

  /// The description of a value, in which the names of types replace the parts that are secret.
  ///
  /// - Parameter value: The value.
  /// - Returns: The text, or the name of the type if the value has more parts than are looked at.
  package static func of(value: Any) -> String { self.of(value: value, otherwise: "\(value)") }

  /// Whether a value may have a secret part: it has one, or more parts than are looked at.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - maximumParts: The number of parts that are looked at.
  /// - Returns: False if none of its parts is secret.
  package static func mayHaveSecret(_ value: Any, maximumParts: Int = 1_000) -> Bool {
    var search = SecretSearch(rest: maximumParts)
    return search.find(in: value) != .nothing
  }

  /// The text of a condition. It describes itself; its own parts are looked at, and no objects that it refers to.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - text: Its text.
  /// - Returns: The text, or the name of the type if a part is secret.
  package static func of(condition: Any, otherwise text: @autoclosure () -> String) -> String {
    var search = SecretSearch(rest: 100, entersObjects: false)
    return search.find(in: condition) == .secret ? "\(type(of: condition))" : text()
  }

  /// The value as `Type(label: part, …)`. Its own description may contain a secret part.
  private static func withoutSecrets(_ value: Any, at depth: Int) -> String {
    // A cast finds a secret in an optional, too.
    if let secret = value as? any OperationSecret { return "\(type(of: secret))" }
    if let text = self.ofCoding(value) { return text }
    if depth > self.maximumDepth { return "\(type(of: value))" }
    let mirror = Mirror(reflecting: value)
    let children = self.children(of: mirror)
    if children.isEmpty { return "\(value)" }
    let parts = children.map { child in
      let text = self.withoutSecrets(child.value, at: depth + 1)
      // The parts of a tuple are named `.0` and `.1`, and the part of an optional is named `some`.
      guard let label = child.label, !label.hasPrefix("."), mirror.displayStyle != .optional else { return text }
      return "\(label): \(text)"
    }
    let list = parts.joined(separator: ", ")
    return switch mirror.displayStyle {
    case .optional: list
    case .collection, .set, .dictionary: "[\(list)]"
    case .tuple: "(\(list))"
    default: "\(type(of: value))(\(list))"
    }
  }
}

extension ShownText {
  /// The parts of a value. An object's parts from its superclasses come first.
  fileprivate static func children(of mirror: Mirror) -> [Mirror.Child] {
    (mirror.superclassMirror.map { self.children(of: $0) } ?? []) + mirror.children
  }
}

/// Searches the parts of a value for a secret.
private struct SecretSearch {
  enum Finding {
    case nothing
    case secret
    /// The value has too many parts.
    case unknown
  }

  /// The number of parts that may still be looked at.
  var rest: Int
  /// Whether it looks at the parts of objects.
  var entersObjects = true

  mutating func find(in value: Any, at depth: Int = 0) -> Finding {
    if value is any OperationSecret || value is EncodingError || value is DecodingError { return .secret }
    if depth > ShownText.maximumDepth { return .unknown }
    switch value {
    case is String, is Int, is Double, is Bool: return .nothing
    default: break
    }
    if !self.entersObjects, type(of: value) is AnyClass { return .nothing }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      for child in current.children {
        self.rest -= 1
        if self.rest < 0 { return .unknown }
        let finding = self.find(in: child.value, at: depth + 1)
        if finding != .nothing { return finding }
      }
      mirror = current.superclassMirror
    }
    return .nothing
  }
}

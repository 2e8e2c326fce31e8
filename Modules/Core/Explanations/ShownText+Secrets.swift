extension ShownText {
  private static let maximumParts = 1_000
  // The limit also ends a walk through objects that refer to each other.
  fileprivate static let maximumDepth = 24

  /// The text of a value, in which the names of types replace the parts that are secret.
  package static func of(value: Any, otherwise text: @autoclosure () -> String) -> String {
    var search = SecretSearch(rest: self.maximumParts)
    return switch search.find(in: value) {
    case .nothing: text()
    case .secret: self.withoutSecrets(value, at: 0)
    case .unknown: "\(type(of: value))"
    }
  }

  /// The value as `Type(label: part, …)`. Its own description may contain a secret part.
  private static func withoutSecrets(_ value: Any, at depth: Int) -> String {
    // A cast finds a secret in an optional, too.
    if let secret = value as? any OperationSecret { return "\(type(of: secret))" }
    if let error = value as? EncodingError { return self.ofEncoding(error) }
    if depth > self.maximumDepth { return "\(type(of: value))" }
    let mirror = Mirror(reflecting: value)
    if mirror.children.isEmpty { return "\(value)" }
    let parts = mirror.children.map { child in
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

  mutating func find(in value: Any, at depth: Int = 0) -> Finding {
    if value is any OperationSecret || value is EncodingError { return .secret }
    if depth > ShownText.maximumDepth { return .unknown }
    switch value {
    case is String, is Int, is Double, is Bool: return .nothing
    default: break
    }
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

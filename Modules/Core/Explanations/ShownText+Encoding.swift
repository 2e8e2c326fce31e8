extension ShownText {
  /// The text of an error that was thrown while a value was encoded, without the value.
  ///
  /// An encoder puts the value into the description of its error, and an error of the value's own `encode(to:)` may have
  /// parts of it.
  ///
  /// - Parameter error: The error.
  /// - Returns: The kind and the coding path of an `EncodingError`; the type of another error.
  package static func ofEncoding(_ error: any Error) -> String {
    guard let error = error as? EncodingError else { return String(reflecting: type(of: error)) }
    guard case .invalidValue(_, let context) = error else { return "EncodingError" }
    let path = self.text(of: context.codingPath)
    return path.isEmpty ? "EncodingError.invalidValue" : "EncodingError.invalidValue at \(path)"
  }

  /// The text of any error, with all of its lines, without secrets and without values that cannot be encoded.
  ///
  /// - Parameter error: The error.
  /// - Returns: The description of the error; for one with a secret or an `EncodingError`, a text made of its properties.
  package static func whole(_ error: any Error) -> String { self.of(value: error, otherwise: "\(error)") }

  /// A coding path, such as `author.names[2]`. The keys of dictionaries are parts of the value, and are left out.
  private static func text(of path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
      if let index = key.intValue, key.stringValue == "Index \(index)" {
        text += "[\(index)]"
      } else if self.isDeclared(key) {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      } else {
        text += "[…]"
      }
    }
  }

  /// Whether a key is a case of an enumeration, as those that the compiler makes of the properties of a type.
  private static func isDeclared(_ key: any CodingKey) -> Bool {
    let mirror = Mirror(reflecting: key)
    return mirror.displayStyle == .enum && mirror.children.isEmpty
  }
}

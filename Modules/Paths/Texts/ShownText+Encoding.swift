extension ShownText {
  /// The text of an error that was thrown while a value was encoded, without the value.
  ///
  /// An encoder puts the value into the description of its error, and an error of the value's own `encode(to:)` may have
  /// parts of it.
  ///
  /// - Parameter error: The error.
  /// - Returns: The kind and the coding path of an `EncodingError`; the type of another error.
  package static func ofEncoding(_ error: any Error) -> String {
    self.ofCoding(error) ?? self.typeName(of: error)
  }

  /// The text of an error of an encoder or a decoder without the value, by its kind and its coding path.
  ///
  /// Their descriptions have the value, as in "Cannot initialize Kind from invalid String value …".
  ///
  /// - Parameter value: Any value.
  /// - Returns: The text; nil for another value.
  static func ofCoding(_ value: Any) -> String? {
    if let error = value as? DecodingError { return self.ofDecoding(error) }
    guard let error = value as? EncodingError else { return nil }
    guard case .invalidValue(_, let context) = error else { return "EncodingError" }
    return self.text("EncodingError.invalidValue", at: context)
  }

  private static func ofDecoding(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context): self.text("DecodingError.typeMismatch(\(type))", at: context)
    case .valueNotFound(let type, let context): self.text("DecodingError.valueNotFound(\(type))", at: context)
    case .keyNotFound(let key, let context):
      self.text("DecodingError.keyNotFound(\(self.text(of: [key])))", at: context)
    case .dataCorrupted(let context): self.text("DecodingError.dataCorrupted", at: context)
    @unknown default: "DecodingError"
    }
  }

  private static func text(_ kind: String, at context: EncodingError.Context) -> String {
    self.text(kind, at: self.text(of: context.codingPath))
  }

  private static func text(_ kind: String, at context: DecodingError.Context) -> String {
    self.text(kind, at: self.text(of: context.codingPath))
  }

  private static func text(_ kind: String, at path: String) -> String { path.isEmpty ? kind : "\(kind) at \(path)" }

  /// The name of the type of an error, which is the same at each start of the program.
  ///
  /// Swift names a private type by an address as well, which differs from start to start.
  ///
  /// - Parameter error: The error.
  /// - Returns: The name with its module, such as `Shop.CartError`.
  package static func typeName(of error: any Error) -> String {
    // Cast, because the type of an error of unknown type is `Error` here.
    var rest = String(reflecting: type(of: error as Any))[...]
    var name = ""
    while let start = rest.firstIndex(of: "(") {
      name += rest[..<start]
      rest = rest[start...]
      // Such as `(unknown context at $10a3f2c).` for a file or a function.
      if rest.hasPrefix("(unknown context at "), let end = rest.firstIndex(of: ")") {
        rest = rest[end...].dropFirst(2)
      } else {
        name += "("
        rest = rest.dropFirst()
      }
    }
    return name + rest
  }

  /// The text of any error, with all of its lines, without secrets and without values that cannot be encoded.
  ///
  /// - Parameter error: The error.
  /// - Returns: The description of the error; for one with a secret, or an error of an encoder or a decoder, a text made
  ///   of its properties.
  package static func whole(_ error: any Error) -> String { self.of(value: error) }

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

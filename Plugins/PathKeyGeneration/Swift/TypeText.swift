/// A Swift type from a file. Its syntax is valid; the compiler checks the names in it.
struct TypeText {
  let text: String
  let place: Place

  /// The names that are looked up where the type is written: `User` in `[User.ID]`.
  let leadingNames: [String]
  /// Whether the type is a single name, which may be nested: `User.FriendsQuery`.
  let isPlainName: Bool
  /// Whether the type as a whole is `…?` or `Optional<…>`.
  let isOptional: Bool

  /// Reads the type in a string. Reports an error and returns nil if it is invalid.
  init?(_ string: JSONString, allowsSome: Bool = false, log: inout DiagnosticLog) {
    var parser = TypeParser(string.text, allowsSome: allowsSome)
    do {
      try parser.parseAll()
    } catch {
      log.report(
        .malformedType,
        at: string.place(ofByte: error.offset),
        "\(error.message) in the type '\(string.text.onOneLine)'",
        remedy: error.remedy
      )
      return nil
    }
    self.text = string.text
    self.place = string.place(ofByte: 0)
    self.leadingNames = parser.leadingNames
    self.isPlainName = parser.isPlainName
    self.isOptional = parser.isOptional
  }
}

/// An error in a piece of Swift code, and the offset of its byte.
struct SwiftTextError: Error {
  let offset: Int
  let message: String
  let remedy: String
}

extension String {
  /// The text in one line for a message; a long text is shortened.
  var onOneLine: String {
    let line = String(self.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    return line.count > 60 ? line.prefix(59) + "…" : line
  }
}

/// A type of Swift as the file writes it: its form is known to be sound, what its names mean is for the compiler.
struct TypeText {
  let text: String
  let place: Place

  /// The names that are looked up from where the type is written: `User` in `[User.ID]`.
  let leadingNames: [String]
  /// Whether the type is one name, possibly nested: `User.FriendsQuery`.
  let isPlainName: Bool
  /// Whether the type as a whole is `…?` or `Optional<…>`.
  let isOptional: Bool

  /// The type that a string holds; says what is wrong with it where it is none.
  init?(_ string: JSONString, allowsSome: Bool = false, log: inout DiagnosticLog) {
    var parser = TypeParser(string.text, allowsSome: allowsSome)
    do {
      try parser.parseAll()
    } catch {
      log.report(
        .malformedType,
        at: string.place(ofByte: error.offset),
        "\(error.what) in the type '\(string.text.onOneLine)'",
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

/// What is wrong with a piece of Swift, and at which of its bytes.
struct SwiftTextError: Error {
  let offset: Int
  let what: String
  let remedy: String
}

extension String {
  /// The text for a message, which is one line; a long one is cut.
  var onOneLine: String {
    let line = String(self.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    return line.count > 60 ? line.prefix(59) + "…" : line
  }
}

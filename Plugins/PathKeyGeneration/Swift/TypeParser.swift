/// Checks the syntax of a type, so that a missing bracket, or code in place of a type, is reported at its place.
struct TypeParser {
  static let maximumDepth = 32

  private let bytes: [UInt8]
  private let allowsSome: Bool
  private var offset = 0
  private var depth = 0

  private(set) var leadingNames: [String] = []
  private(set) var isPlainName = true
  /// Whether the outermost type is an optional. Types inside others, and the results of functions, do not count.
  private(set) var isOptional = false

  init(_ text: String, allowsSome: Bool) {
    self.bytes = Array(text.utf8)
    self.allowsSome = allowsSome
  }

  /// Reads the text as one type.
  mutating func parseAll() throws(SwiftTextError) {
    self.skipBlanks()
    guard self.offset < self.bytes.count else {
      throw SwiftTextError(offset: 0, message: "nothing", remedy: "write a type, such as \"Int\"")
    }
    try self.type()
    guard self.offset == self.bytes.count else {
      throw self.unexpected("expected the end of the type", remedy: "write one type and nothing else")
    }
  }
}

extension TypeParser {
  /// Reads a type with attributes, `any`, compositions and function arrows.
  private mutating func type() throws(SwiftTextError) {
    guard self.depth < Self.maximumDepth else {
      throw SwiftTextError(
        offset: self.offset,
        message: "more than \(Self.maximumDepth) levels",
        remedy: "give the inner type a name by a typealias"
      )
    }
    self.depth += 1
    defer { self.depth -= 1 }

    while true {
      if self.isAt("@") {
        try self.attribute()
      } else if let word = self.wordAhead, Self.specifiers.contains(word) {
        try self.specifier(word)
      } else {
        break
      }
      self.isPlainName = false
    }
    try self.postfix()
    while self.isAt("&") {
      self.isPlainName = false
      self.advance()
      try self.postfix()
      self.recordOptional(false)
    }
    try self.functionResult()
  }

  private mutating func attribute() throws(SwiftTextError) {
    self.advance()
    guard self.name() != nil else { throw self.unexpected("expected an attribute's name after '@'") }
    self.attributeArguments()
  }

  /// Reads a word such as `any` at the current position.
  private mutating func specifier(_ word: String) throws(SwiftTextError) {
    if word == "some", !(self.allowsSome && self.depth == 1) {
      throw SwiftTextError(offset: self.offset, message: "'some'", remedy: "name the type, or write 'any'")
    }
    if ["inout", "isolated"].contains(word), self.depth == 1 {
      throw SwiftTextError(offset: self.offset, message: "'\(word)'", remedy: "keep it for parameters of functions")
    }
    _ = self.name()
    if word == "nonisolated" { self.attributeArguments() }
  }

  /// Reads the parentheses directly after the name of an attribute: `(any)` in `@isolated(any)`.
  private mutating func attributeArguments() {
    // After a blank or before an arrow, the parentheses are a function's parameters: `@Sendable(Int) -> Void`.
    guard self.isAt("("), ![UInt8(ascii: " "), UInt8(ascii: "\t")].contains(self.bytes[self.offset - 1]) else { return }
    var copy = self
    let isList: Void? = try? copy.list(until: ")") { parser throws(SwiftTextError) in
      guard parser.name() != nil else { throw parser.unexpected("expected a name") }
    }
    if isList != nil, !copy.isAtFunctionResult { self = copy }
  }

  private var isAtFunctionResult: Bool {
    self.isAt("-") || self.wordAhead.map { ["async", "throws"].contains($0) } == true
  }

  private mutating func functionResult() throws(SwiftTextError) {
    let effects = self.offset
    if self.wordAhead == "async" { _ = self.name() }
    if self.wordAhead == "throws" {
      _ = self.name()
      if self.isAt("(") { try self.list(until: ")") { parser throws(SwiftTextError) in try parser.type() } }
    }
    guard self.isAt("-"), self.offset + 1 < self.bytes.count, self.bytes[self.offset + 1] == UInt8(ascii: ">") else {
      if self.offset > effects { throw self.unexpected("expected '->'") }
      return
    }
    self.isPlainName = false
    self.recordOptional(false)
    self.offset += 2
    self.skipBlanks()
    try self.type()
  }

  private mutating func postfix() throws(SwiftTextError) {
    let start = self.offset
    try self.primary()
    while true {
      if self.isAt("?") || self.isAt("!") {
        if self.isAt("!") { throw self.unexpected("an optional is written with '?'", remedy: "write '?'") }
        self.isPlainName = false
        self.recordOptional(true)
        self.advance()
      } else if self.isAt("."), !self.isAtEllipsis {
        let isOfSwift = self.bytes[start..<self.offset].elementsEqual("Swift".utf8)
        self.advance()
        guard let name = self.name() else { throw self.unexpected("expected a name after '.'") }
        self.recordOptional(isOfSwift && name == "Optional" && self.isAt("<"))
        try self.genericArguments()
      } else {
        return
      }
    }
  }

  private mutating func primary() throws(SwiftTextError) {
    while self.isAt("~") {
      self.isPlainName = false
      self.advance()
    }
    if self.isAt("(") {
      self.isPlainName = false
      try self.list(until: ")") { parser throws(SwiftTextError) in try parser.tupleElement() }
    } else if self.isAt("[") {
      self.isPlainName = false
      try self.bracketed()
    } else if let name = self.typeName() {
      self.leadingNames.append(name)
      self.recordOptional(name == "Optional" && self.isAt("<"))
      try self.genericArguments()
    } else {
      throw self.unexpected("expected a type")
    }
  }

  /// Stores whether the last type is an optional, unless it is inside another type.
  private mutating func recordOptional(_ isOptional: Bool) {
    if self.depth == 1 { self.isOptional = isOptional }
  }

  /// Reads `[Element]`, `[Key: Value]` or `[3 of Element]`.
  private mutating func bracketed() throws(SwiftTextError) {
    let start = self.offset
    self.advance()
    try self.typeOrNumber()
    if self.isAt(":") {
      self.advance()
      try self.type()
    } else if self.wordAhead == "of" {
      _ = self.name()
      try self.type()
    }
    try self.close("]", openedAt: start)
  }

  private mutating func genericArguments() throws(SwiftTextError) {
    guard self.isAt("<") else { return }
    self.isPlainName = false
    try self.list(until: ">", mayBeEmpty: false) { parser throws(SwiftTextError) in try parser.typeOrNumber() }
  }

  private mutating func typeOrNumber() throws(SwiftTextError) {
    let start = self.offset
    while self.offset < self.bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self.bytes[self.offset]) {
      self.offset += 1
    }
    if self.offset > start { self.skipBlanks() } else { try self.type() }
  }

  /// Reads a type with up to two labels before it.
  private mutating func tupleElement() throws(SwiftTextError) {
    let start = self.offset
    let names = self.leadingNames.count
    if self.label() {
      _ = self.label()
      if self.isAt(":") {
        self.advance()
      } else {
        self.offset = start
        self.leadingNames.removeSubrange(names...)
      }
    }
    try self.type()
    if self.isAtEllipsis {
      self.offset += 3
      self.skipBlanks()
    }
  }

  private mutating func label() -> Bool {
    if self.name() != nil { return true }
    guard self.isAt("_") else { return false }
    self.advance()
    return true
  }

  private mutating func list(
    until end: Unicode.Scalar,
    mayBeEmpty: Bool = true,
    element: (inout Self) throws(SwiftTextError) -> Void
  ) throws(SwiftTextError) {
    let start = self.offset
    self.advance()
    if !mayBeEmpty || !self.isAt(end) {
      try element(&self)
      while self.isAt(",") {
        self.advance()
        try element(&self)
      }
    }
    try self.close(end, openedAt: start)
  }

  private mutating func close(_ end: Unicode.Scalar, openedAt start: Int) throws(SwiftTextError) {
    if self.isAt(end) { return self.advance() }
    if self.offset == self.bytes.count {
      let bracket = Unicode.Scalar(self.bytes[start])
      throw SwiftTextError(offset: start, message: "'\(bracket)' is never closed", remedy: "close it by '\(end)'")
    }
    throw self.unexpected("expected ',' or '\(end)'")
  }
}

extension TypeParser {
  private static let specifiers: Set<String> = [
    "any", "some", "borrowing", "consuming", "inout", "isolated", "nonisolated", "sending",
  ]

  private func isAt(_ character: Unicode.Scalar) -> Bool {
    self.offset < self.bytes.count && self.bytes[self.offset] == UInt8(ascii: character)
  }

  private var isAtEllipsis: Bool { self.bytes[self.offset...].starts(with: "...".utf8) }

  private mutating func advance() {
    self.offset += 1
    self.skipBlanks()
  }

  private mutating func skipBlanks() {
    while self.isAt(" ") || self.isAt("\t") { self.offset += 1 }
  }

  /// The identifier at the current position, without reading it.
  private var wordAhead: String? {
    var copy = self
    return copy.name()
  }

  /// Reads an identifier that may name a type.
  private mutating func typeName() -> String? {
    let isKeyword = self.wordAhead.map { SwiftName.keywords.contains($0) && $0 != "Any" } ?? false
    return isKeyword && !self.isAt("`") ? nil : self.name()
  }

  /// Reads an identifier, with or without backticks, and the blanks after it.
  private mutating func name() -> String? {
    let quoted = self.isAt("`")
    let start = self.offset + (quoted ? 1 : 0)
    var end = start
    while end < self.bytes.count, self.bytes[end] >= 0x80 || self.bytes[end].isNamePart { end += 1 }
    let name = String(decoding: self.bytes[start..<end], as: UTF8.self)
    guard SwiftName.isIdentifier(name) else { return nil }
    if quoted {
      guard end < self.bytes.count, self.bytes[end] == UInt8(ascii: "`") else { return nil }
      end += 1
    }
    self.offset = end
    self.skipBlanks()
    return name
  }

  private func unexpected(
    _ message: String,
    remedy: String = "write a type as in code, such as \"[User.ID]\""
  ) -> SwiftTextError {
    let rest = String(decoding: self.bytes[self.offset...], as: UTF8.self)
    let found = rest.first.map { $0.isNewline ? "a new line" : "'\($0)'" } ?? "the end"
    return SwiftTextError(offset: self.offset, message: "\(message), found \(found),", remedy: remedy)
  }
}

extension UInt8 {
  /// Whether an ASCII character may be part of an identifier.
  fileprivate var isNamePart: Bool {
    switch Unicode.Scalar(self) {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }
}

/// Finds brackets, strings, comments and statements that would end an expression early or extend it into later code.
struct ExpressionScanner {
  private let bytes: [UInt8]
  private var offset = 0
  /// The open brackets, the innermost last.
  private var open: [(bracket: Unicode.Scalar, offset: Int)] = []

  init(_ text: String) {
    self.bytes = Array(text.utf8)
  }

  /// Reads the text as one expression.
  mutating func scanAll() throws(SwiftTextError) {
    guard self.bytes.contains(where: { $0 > 0x20 }) else {
      throw SwiftTextError(offset: 0, message: "nothing", remedy: "write an expression, such as \"URLSession.shared\"")
    }
    while self.offset < self.bytes.count { try self.step() }
    if let (bracket, offset) = self.open.last {
      throw SwiftTextError(offset: offset, message: "'\(bracket)' is never closed", remedy: "close it")
    }
  }

  private mutating func step() throws(SwiftTextError) {
    let character = Unicode.Scalar(self.bytes[self.offset])
    switch character {
    case "(", "[", "{": self.open.append((character, self.offset))
    case ")", "]", "}": try self.close(character)
    case "\"": return try self.string(hashes: 0)
    case "#":
      let hashes = self.run(of: "#", at: self.offset)
      if self.byte(self.offset + hashes) == UInt8(ascii: "\"") {
        self.offset += hashes
        return try self.string(hashes: hashes)
      }
      if self.byte(self.offset + hashes) == UInt8(ascii: "/") {
        self.offset += hashes
        return try self.regularExpression(hashes: hashes)
      }
    case "/" where [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(self.byte(self.offset + 1)):
      throw self.error("a comment", "put comments next to the entry, or describe it by 'doc'")
    case "/" where self.beginsRegularExpression: return try self.regularExpression(hashes: 0)
    case ";", ",":
      if self.open.isEmpty { throw self.error("'\(character)' outside brackets", "write one expression") }
    case "\n", "\r":
      if self.open.isEmpty { throw self.error("a new line outside brackets", "write the expression on one line") }
    case "=":
      if self.open.isEmpty, self.isAssignment { throw self.error("an assignment", "write one expression") }
    default: break
    }
    self.offset += 1
  }

  private mutating func close(_ end: Unicode.Scalar) throws(SwiftTextError) {
    let pairs: [Unicode.Scalar: Unicode.Scalar] = [")": "(", "]": "[", "}": "{"]
    guard let last = self.open.popLast() else { throw self.error("'\(end)' closes no bracket", "remove it") }
    guard last.bracket == pairs[end] else {
      throw self.error("'\(end)' does not close '\(last.bracket)'", "check the brackets")
    }
  }

  /// Reads a string, from its first quote to its last; interpolations are read as code.
  private mutating func string(hashes: Int) throws(SwiftTextError) {
    let start = self.offset
    let quotes = self.run(of: "\"", at: self.offset) >= 3 ? 3 : 1
    self.offset += quotes
    while self.offset < self.bytes.count {
      switch Unicode.Scalar(self.bytes[self.offset]) {
      case "\""
      where self.run(of: "\"", at: self.offset) >= quotes
        && self.run(of: "#", at: self.offset + quotes) >= hashes:
        self.offset += quotes + hashes
        return
      case "\\" where self.run(of: "#", at: self.offset + 1) >= hashes:
        self.offset += 1 + hashes
        if self.byte(self.offset) == UInt8(ascii: "(") { try self.interpolation() } else { self.offset += 1 }
      case "\n" where quotes == 1, "\r" where quotes == 1:
        throw SwiftTextError(offset: start, message: "a string that is not closed on its line", remedy: "close it")
      default: self.offset += 1
      }
    }
    throw SwiftTextError(offset: start, message: "a string that is never closed", remedy: "close it")
  }

  private mutating func interpolation() throws(SwiftTextError) {
    let outer = self.open.count
    guard outer < 64 else { throw self.error("more than 64 levels", "give the inner expression a name") }
    repeat { try self.step() } while self.open.count > outer && self.offset < self.bytes.count
  }

  /// Reads a literal of a regular expression, in which quotes and brackets mean something else.
  private mutating func regularExpression(hashes: Int) throws(SwiftTextError) {
    let start = self.offset
    self.offset += 1
    while self.offset < self.bytes.count {
      switch Unicode.Scalar(self.bytes[self.offset]) {
      case "/" where self.run(of: "#", at: self.offset + 1) >= hashes:
        self.offset += 1 + hashes
        return
      case "\\": self.offset += 2
      case "\n" where hashes == 0, "\r" where hashes == 0:
        let message = "a regular expression that is not closed on its line"
        throw SwiftTextError(offset: start, message: message, remedy: "close it")
      default: self.offset += 1
      }
    }
    throw SwiftTextError(offset: start, message: "a regular expression that is never closed", remedy: "close it")
  }

  /// Whether the `/` at the current position begins a regular expression, and is no operator.
  ///
  /// It is where a value has to come, and no blank is behind it, as in Swift.
  private var beginsRegularExpression: Bool {
    let next = self.byte(self.offset + 1)
    guard next > 0x20, next != UInt8(ascii: ")") else { return false }
    let before = self.bytes[..<self.offset]
    guard let last = before.last(where: { $0 > 0x20 }) else { return true }
    if "([{,:;=!&|?<>~^+-*%".utf8.contains(last) { return true }
    let word = before.reversed().drop { $0 <= 0x20 }.prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
    return ["in", "return", "try", "await"].contains(String(decoding: word.reversed(), as: UTF8.self))
  }

  /// Whether the `=` at the current position is not part of an operator such as `==` or `<=`.
  private var isAssignment: Bool {
    let operators = Set("=!<>~+-*/%&|^.?".utf8)
    let before = self.offset > 0 ? self.bytes[self.offset - 1] : 0
    return !operators.contains(before) && !operators.contains(self.byte(self.offset + 1))
  }

  private func byte(_ offset: Int) -> UInt8 { offset < self.bytes.count ? self.bytes[offset] : 0 }

  private func run(of character: Unicode.Scalar, at offset: Int) -> Int {
    var end = offset
    while self.byte(end) == UInt8(ascii: character) { end += 1 }
    return end - offset
  }

  private func error(_ message: String, _ remedy: String) -> SwiftTextError {
    SwiftTextError(offset: self.offset, message: message, remedy: remedy)
  }
}

extension JSONReader {
  /// Reads the name of a member: a string, or an identifier without quotes.
  mutating func name() -> JSONString? {
    if self.isAt("\"") || self.isAt("'") { return self.string() }
    if let name = self.unquotedName() { return name }
    guard !self.isAtEnd else { return nil }
    let isOdd = self.scalar(at: self.offset).map { !$0.scalar.isASCII || $0.scalar.value < 0x20 } ?? false
    self.report(
      isOdd ? .unexpectedCharacter : .expectedName,
      "expected a name, found \(self.found)",
      remedy: isOdd ? "remove it" : "write a name and its value, or check the commas and brackets"
    )
    return nil
  }

  mutating func unquotedName() -> JSONString? {
    let start = self.offset
    while let (scalar, length) = self.scalar(at: self.offset),
      scalar == "$" || (self.offset == start ? SwiftName.isHead(scalar) : SwiftName.isBody(scalar))
    {
      self.offset += length
    }
    guard self.offset > start else { return nil }
    let text = String(decoding: self.bytes[start..<self.offset], as: UTF8.self)
    return JSONString(text: text, place: self.place(start), offsets: Array(start...self.offset))
  }

  /// Reads a string in single or double quotes.
  mutating func string() -> JSONString? {
    let start = self.offset
    let quote = self.current
    var text: [UInt8] = []
    var offsets: [Int] = []
    var isValid = true
    self.offset += 1
    while !self.isAtEnd, self.current != quote {
      let place = self.offset
      switch self.current {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        self.report(
          .unclosedString,
          at: start,
          "the string is not closed on its line",
          remedy: "close it by \(Unicode.Scalar(quote)), or end the line with a backslash to go on"
        )
        return nil
      case UInt8(ascii: "\\"):
        if let scalars = self.escape() {
          text.append(contentsOf: scalars.utf8)
        } else {
          isValid = false
        }
      case 0..<0x20 where self.current != UInt8(ascii: "\t"), 0x7F:
        self.report(.controlCharacter, "\(self.found) in a string", remedy: "remove it")
        isValid = false
        self.offset += 1
      default:
        text.append(self.current)
        self.offset += 1
      }
      offsets.append(contentsOf: repeatElement(place, count: text.count - offsets.count))
    }
    guard !self.isAtEnd else {
      self.reportEnd(of: "the string", from: start, remedy: "close it by \(Unicode.Scalar(quote))")
      return nil
    }
    offsets.append(self.offset)
    self.offset += 1
    guard isValid else { return nil }
    return JSONString(text: String(decoding: text, as: UTF8.self), place: self.place(start), offsets: offsets)
  }

  /// Reads an escape sequence, and returns the text that it stands for.
  private mutating func escape() -> String? {
    let start = self.offset
    self.offset += 1
    guard let (scalar, length) = self.scalar(at: self.offset) else { return "" }
    self.offset += length
    switch scalar {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "b", "f", "v", "0":
      self.reportEscape(from: start, "a control character in a string", remedy: "remove it")
      return nil
    case "x": return self.hexadecimal(digits: 2, from: start).flatMap { self.text(of: $0, from: start) }
    case "u": return self.unicode(from: start)
    case "1"..."9":
      let remedy = "write '\(scalar)', or \\u and four digits"
      self.reportEscape(from: start, "'\\\(scalar)' is not an escape", remedy: remedy)
      return nil
    case "\r":
      if self.isAt("\n") { self.offset += 1 }
      return ""
    default: return scalar.endsLine ? "" : String(scalar)
    }
  }

  private mutating func unicode(from start: Int) -> String? {
    guard let first = self.hexadecimal(digits: 4, from: start) else { return nil }
    guard (0xD800..<0xDC00).contains(first), self.isAt("\\"), self.peek(1) == UInt8(ascii: "u") else {
      return self.text(of: first, from: start)
    }
    self.offset += 2
    guard let second = self.hexadecimal(digits: 4, from: start) else { return nil }
    guard (0xDC00..<0xE000).contains(second) else { return self.text(of: first, from: start) }
    return self.text(of: 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), from: start)
  }

  private mutating func hexadecimal(digits: Int, from start: Int) -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard !self.isAtEnd, let digit = Character(Unicode.Scalar(self.current)).hexDigitValue else {
        self.reportEscape(from: start, "an escape without its \(digits) digits", remedy: "write \(digits) of 0…9, A…F")
        return nil
      }
      value = value << 4 | UInt32(digit)
      self.offset += 1
    }
    return value
  }

  private mutating func text(of value: UInt32, from start: Int) -> String? {
    guard let scalar = Unicode.Scalar(value) else {
      self.reportEscape(from: start, "an escape of half a character", remedy: "write both halves, or the character")
      return nil
    }
    guard value >= 0x20 && value != 0x7F || value == 9 || value == 10 || value == 13 else {
      self.reportEscape(from: start, "a control character in a string", remedy: "remove it")
      return nil
    }
    return String(scalar)
  }

  private mutating func reportEscape(from start: Int, _ message: String, remedy: String) {
    self.report(.invalidEscape, at: start, message, remedy: remedy)
  }
}

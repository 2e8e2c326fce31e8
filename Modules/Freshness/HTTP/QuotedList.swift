/// Lists whose elements can have quoted arguments: [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-5.6).
enum QuotedList {
  private static let quote = UInt8(ascii: "\"")
  private static let escape = UInt8(ascii: "\\")

  /// The elements between the commas that are in no quotes, without spaces around them, and without empty ones.
  ///
  /// A quotation mark that has no second one is an ordinary character, so that it hides nothing behind it.
  static func elements(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var elements: [ArraySlice<UInt8>] = []
    var (start, index) = (0, 0)
    /// Whether no closing quotation mark is left.
    var lacksQuotes = false
    while index < bytes.count {
      if bytes[index] == self.quote, !lacksQuotes {
        if let end = self.end(ofQuoteAt: index, in: bytes[...]) { index = end } else { lacksQuotes = true }
      } else if bytes[index] == UInt8(ascii: ",") {
        elements.append(bytes[start..<index])
        start = index + 1
      }
      index += 1
    }
    elements.append(bytes[start...])
    return elements.map { self.trimmed($0) }.filter { !$0.isEmpty }
  }

  /// The name of a directive in lowercase, and its argument without quotes; nil if it has none.
  static func directive(_ element: ArraySlice<UInt8>) -> (name: String, argument: [UInt8]?) {
    guard let separator = element.firstIndex(of: UInt8(ascii: "=")) else { return (self.name(element), nil) }
    return (self.name(element[..<separator]), self.unquoted(element[element.index(after: separator)...]))
  }

  private static func name(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: self.trimmed(bytes).map(self.lowercased), as: UTF8.self)
  }

  private static func unquoted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard bytes.first == self.quote, self.end(ofQuoteAt: bytes.startIndex, in: bytes) == bytes.endIndex - 1 else {
      return Array(bytes)
    }
    var (result, isEscaped) = ([UInt8](), false)
    for byte in bytes.dropFirst().dropLast() {
      if byte == self.escape, !isEscaped {
        isEscaped = true
      } else {
        result.append(byte)
        isEscaped = false
      }
    }
    return result
  }

  /// The index of the quotation mark that closes the one at `index`; nil if there is none.
  private static func end(ofQuoteAt index: Int, in bytes: ArraySlice<UInt8>) -> Int? {
    var position = index + 1
    while position < bytes.endIndex {
      if bytes[position] == self.quote { return position }
      position += bytes[position] == self.escape ? 2 : 1
    }
    return nil
  }

  /// Returns a letter of ASCII in lowercase, and other bytes as they are.
  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// The bytes without spaces and tabs around them.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = bytes.drop(while: isSpace)
    guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start.prefix(0) }
    return start[...last]
  }
}

extension String {
  /// The text without spaces and tabs around it.
  var trimmedOfSpaces: String { String(decoding: QuotedList.trimmed(Array(self.utf8)[...]), as: UTF8.self) }

  /// The text with the letters of ASCII in lowercase.
  var lowercasedASCII: String { String(decoding: self.utf8.map(QuotedList.lowercased), as: UTF8.self) }
}

extension JSONReader {
  /// Whether an item could start at the current position, if there were a comma before it.
  var startsItem: Bool {
    if self.isAt("\"") || self.isAt("'") || self.isAt("{") || self.isAt("[") { return true }
    return self.scalar(at: self.offset).map { SwiftName.isHead($0.scalar) } ?? false
  }

  /// Skips an item that could not be read, up to the comma after it or the bracket that ends the list.
  mutating func skipItem() {
    var open = 0
    while !self.isAtEnd {
      self.skipBlanks()
      guard !self.isAtEnd else { return }
      switch Unicode.Scalar(self.current) {
      case ",": if open == 0 { return }
      case "{", "[": open += 1
      case "}", "]":
        if open == 0 { return }
        open -= 1
      case "\"", "'": self.skipString()
      default: break
      }
      self.offset += 1
    }
  }

  /// Skips the bracket at the current position with its contents and its closing bracket.
  mutating func skipNested() {
    var open = 0
    repeat {
      self.skipBlanks()
      guard !self.isAtEnd else { return }
      switch Unicode.Scalar(self.current) {
      case "{", "[": open += 1
      case "}", "]": open -= 1
      case "\"", "'": self.skipString()
      default: break
      }
      self.offset += 1
    } while open > 0
  }

  /// Skips to the quote that ends a string, or to the last byte of its line.
  private mutating func skipString() {
    let quote = self.current
    var end = self.offset + 1
    while end < self.bytes.count, self.bytes[end] != quote, self.bytes[end] != UInt8(ascii: "\n") {
      end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    self.offset = min(end, self.bytes.count - 1)
  }
}

extension JSONReader {
  /// Reads a number. No member of a path key file is a number, so only the syntax is checked.
  mutating func number() -> JSONNode.Value? {
    let start = self.offset
    if self.isAt("+") || self.isAt("-") { self.offset += 1 }
    if let word = self.unquotedName() {
      return word.text == "Infinity" || word.text == "NaN" ? .number : self.invalidNumber(from: start)
    }
    if self.isAt("0"), self.peek(1) | 0x20 == UInt8(ascii: "x") {
      self.offset += 2
      guard self.digits({ Character(Unicode.Scalar($0)).isHexDigit }) > 0 else {
        return self.invalidNumber(from: start)
      }
    } else {
      let hasLeadingZero = self.isAt("0")
      let whole = self.digits(isDecimal)
      var fraction = 0
      if self.isAt(".") {
        self.offset += 1
        fraction = self.digits(isDecimal)
      }
      guard whole + fraction > 0, !(hasLeadingZero && whole > 1) else { return self.invalidNumber(from: start) }
      if !self.isAtEnd, self.current | 0x20 == UInt8(ascii: "e") {
        self.offset += 1
        if self.isAt("+") || self.isAt("-") { self.offset += 1 }
        guard self.digits(isDecimal) > 0 else { return self.invalidNumber(from: start) }
      }
    }
    guard self.unquotedName() == nil else { return self.invalidNumber(from: start) }
    return .number
  }

  private mutating func invalidNumber(from start: Int) -> JSONNode.Value? {
    self.report(.invalidNumber, at: start, "this is not a number", remedy: "put the value in quotes")
    return nil
  }

  private mutating func digits(_ isDigit: (UInt8) -> Bool) -> Int {
    let start = self.offset
    while !self.isAtEnd, isDigit(self.current) { self.offset += 1 }
    return self.offset - start
  }
}

private func isDecimal(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

extension JSONReader {
  /// Whether the file is valid UTF-8 and not too large. Reports an error if it is not.
  mutating func isText() -> Bool {
    guard self.bytes.count <= Self.maximumSize else {
      self.report(
        .tooLarge,
        "the file has \(self.bytes.count) bytes, more than the \(Self.maximumSize) that are read",
        remedy: "split it into several files of the target"
      )
      return false
    }
    if self.bytes.starts(with: [0xFF, 0xFE]) || self.bytes.starts(with: [0xFE, 0xFF]) {
      self.report(.notText, "the file is UTF-16", remedy: "save it as UTF-8")
      return false
    }
    var isText = true
    var isInRun = false
    var offset = 0
    while offset < self.bytes.count {
      let length = self.encodedLength(at: offset)
      if length == 0 {
        if !isInRun {
          let byte = String(self.bytes[offset], radix: 16, uppercase: true).leftPadded(to: 2)
          self.report(.notText, at: offset, "the byte 0x\(byte) is not UTF-8", remedy: "save the file as UTF-8")
        }
        isText = false
      }
      isInRun = length == 0
      offset += max(1, length)
    }
    return isText
  }

  /// The length of the scalar at an offset; 0 if it is invalid.
  private func encodedLength(at offset: Int) -> Int {
    let first = self.bytes[offset]
    // The range of the second byte excludes overlong forms, surrogates, and values beyond the last plane.
    let (length, second): (Int, ClosedRange<UInt8>) =
      switch first {
      case 0..<0x80: (1, 0x80...0xBF)
      case 0xC2...0xDF: (2, 0x80...0xBF)
      case 0xE0: (3, 0xA0...0xBF)
      case 0xED: (3, 0x80...0x9F)
      case 0xE1...0xEF: (3, 0x80...0xBF)
      case 0xF0: (4, 0x90...0xBF)
      case 0xF1...0xF3: (4, 0x80...0xBF)
      case 0xF4: (4, 0x80...0x8F)
      default: (0, 0x80...0xBF)
      }
    guard length > 1 else { return length }
    guard offset + length <= self.bytes.count, second.contains(self.bytes[offset + 1]) else { return 0 }
    return self.bytes[(offset + 1)..<(offset + length)].allSatisfy { $0 & 0xC0 == 0x80 } ? length : 0
  }

  /// Skips white space and comments.
  mutating func skipBlanks() {
    while let (scalar, length) = self.scalar(at: self.offset) {
      if scalar == "/", self.peek(1) == UInt8(ascii: "/") {
        while let (scalar, length) = self.scalar(at: self.offset), !scalar.endsLine { self.offset += length }
      } else if scalar == "/", self.peek(1) == UInt8(ascii: "*") {
        self.skipBlockComment()
      } else if scalar.isBlank {
        self.offset += length
      } else {
        return
      }
    }
  }

  private mutating func skipBlockComment() {
    let start = self.offset
    self.offset += 2
    while !self.isAtEnd {
      if self.isAt("*"), self.peek(1) == UInt8(ascii: "/") {
        self.offset += 2
        return
      }
      self.offset += 1
    }
    self.reportEnd(of: "the comment", from: start, remedy: "close it by '*/'")
  }

  mutating func reportEnd(of construct: String, from start: Int, remedy: String) {
    guard !self.hasReportedEnd else { return }
    self.hasReportedEnd = true
    self.report(.unclosed, at: start, "\(construct) is never closed", remedy: remedy)
  }
}

extension Unicode.Scalar {
  var endsLine: Bool { self == "\n" || self == "\r" || self == "\u{2028}" || self == "\u{2029}" }

  /// Whether the scalar is white space in JSON5.
  var isBlank: Bool {
    switch self {
    case " ", "\t", "\u{0B}", "\u{0C}", "\u{A0}", "\u{FEFF}": true
    default: self.endsLine || self.value > 0x7F && self.properties.generalCategory == .spaceSeparator
    }
  }
}

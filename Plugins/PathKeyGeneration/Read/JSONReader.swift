/// Reads JSON5 (comments, trailing commas, unquoted names, single quotes), and records the place of each value.
///
/// It continues after a mistake, so that one build reports all mistakes.
struct JSONReader {
  static let maximumDepth = 64
  static let maximumSize = 16 * 1024 * 1024

  let file: SourceFile
  let bytes: [UInt8]
  var offset = 0
  var depth = 0
  var log = DiagnosticLog()
  /// Whether the end of the file has been reported, so that open brackets are reported only once.
  var hasReportedEnd = false

  private init(_ file: SourceFile) {
    self.file = file
    self.bytes = file.bytes
  }

  /// Reads the value of a file, as far as possible.
  static func read(_ file: SourceFile, into log: inout DiagnosticLog) -> JSONNode? {
    var reader = JSONReader(file)
    defer { log.append(contentsOf: reader.log.diagnostics) }
    guard reader.isText() else { return nil }
    if file.startsWithMark { reader.offset = 3 }
    reader.skipBlanks()
    guard let root = reader.value() else { return nil }
    reader.skipBlanks()
    if !reader.isAtEnd {
      reader.report(.trailingText, "text after the end of the root object", remedy: "remove it, or check the brackets")
    }
    return root
  }
}

extension JSONReader {
  var isAtEnd: Bool { self.offset >= self.bytes.count }

  /// The byte at the current position; 0 at the end.
  var current: UInt8 { self.isAtEnd ? 0 : self.bytes[self.offset] }

  func peek(_ distance: Int) -> UInt8 {
    self.offset + distance < self.bytes.count ? self.bytes[self.offset + distance] : 0
  }

  func isAt(_ character: Unicode.Scalar) -> Bool { !self.isAtEnd && self.current == UInt8(ascii: character) }

  func place(_ offset: Int) -> Place { Place(file: self.file, offset: offset) }

  mutating func report(_ code: Diagnostic.Code, at offset: Int? = nil, _ message: String, remedy: String) {
    self.log.report(code, at: self.place(offset ?? self.offset), message, remedy: remedy)
  }

  /// The scalar at an offset and its length in bytes. The bytes must be valid UTF-8.
  func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard offset < self.bytes.count else { return nil }
    let first = self.bytes[offset]
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    var value = UInt32(first & (0xFF >> UInt8(length + 1)))
    for index in 1..<length where offset + index < self.bytes.count {
      value = value << 6 | UInt32(self.bytes[offset + index] & 0x3F)
    }
    return Unicode.Scalar(value).map { ($0, length) }
  }

  /// The text at the current position, for messages.
  var found: String {
    guard let (scalar, _) = self.scalar(at: self.offset) else { return "the end of the file" }
    return scalar.value < 0x20 || scalar.value == 0x7F
      ? "the character U+\(String(scalar.value, radix: 16, uppercase: true).leftPadded(to: 4))" : "'\(scalar)'"
  }
}

extension String {
  /// The text, padded with zeros on the left.
  func leftPadded(to length: Int) -> String {
    String(repeating: "0", count: max(0, length - self.count)) + self
  }
}

/// Reads the values of members of JSON as an encoder writes them; nil for what needs the decoder.
enum PlainText {
  static func bool(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
    if text.elementsEqual("true".utf8) { return true }
    return text.elementsEqual("false".utf8) ? false : nil
  }

  /// A number without a sign, and with few enough digits that it fits.
  static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard !text.isEmpty, text.count <= 18, text.first != UInt8(ascii: "0") || text.count == 1 else { return nil }
    var number = 0
    for byte in text {
      guard self.isDigit(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// A number without an exponent. `Double` reads more than that.
  static func number(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    let whole = digits.prefix { $0 != UInt8(ascii: ".") }
    let rest = digits[whole.endIndex...]
    guard self.areDigits(whole), whole.first != UInt8(ascii: "0") || whole.count == 1,
      rest.isEmpty || self.areDigits(rest.dropFirst())
    else { return nil }
    return DecimalText.number(text)
  }

  /// A string with its quotation marks.
  static func string(_ text: UnsafeBufferPointer<UInt8>) -> String? {
    guard text.count >= 2, text[0] == UInt8(ascii: "\""), text[text.count - 1] == UInt8(ascii: "\"") else { return nil }
    let bytes = UnsafeBufferPointer(rebasing: text[1..<text.count - 1])
    guard bytes.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) else {
      return String(validating: bytes, as: UTF8.self)
    }
    var isPlain = true
    let string = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
      var place = 0
      while place < bytes.count {
        var byte = bytes[place]
        if byte == UInt8(ascii: "\\"), place + 1 < bytes.count, let escaped = self.unescaped(bytes[place + 1]) {
          byte = escaped
          place += 1
        } else if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") {
          isPlain = false
          return
        }
        buffer[count] = byte
        count += 1
        place += 1
      }
    }
    return isPlain ? String(validating: string, as: UTF8.self) : nil
  }

  /// The character for one behind a backslash; nil for those by number.
  private static func unescaped(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
    case UInt8(ascii: "n"): UInt8(ascii: "\n")
    case UInt8(ascii: "r"): UInt8(ascii: "\r")
    case UInt8(ascii: "t"): UInt8(ascii: "\t")
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    default: nil
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func areDigits(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    !text.isEmpty && text.allSatisfy(self.isDigit)
  }
}

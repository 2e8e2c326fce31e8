#if os(Linux)
  /// Decodes Base64, the encoding of bytes in an environment variable.
  enum Base64 {
    /// Decodes `text`; nil if it is not valid Base64.
    static func decode(_ text: String) -> [UInt8]? {
      var characters = Array(text.utf8)
      guard characters.count.isMultiple(of: 4) else { return nil }
      let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
      guard padding <= 2 else { return nil }
      characters.removeLast(padding)
      var bytes: [UInt8] = []
      var (bits, bitCount) = (UInt32(0), 0)
      for character in characters {
        guard let value = Self.value(of: character) else { return nil }
        bits = (bits << 6 | UInt32(value)) & 0xFFF_FFFF
        bitCount += 6
        guard bitCount >= 8 else { continue }
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
      // The remaining bits must be zero.
      return bits & (1 << UInt32(bitCount) - 1) == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt8? {
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): 62
      case UInt8(ascii: "/"): 63
      default: nil
      }
    }
  }
#endif

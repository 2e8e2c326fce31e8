#if os(Linux)
  /// The text that carries bytes through an environment variable.
  enum Base64 {
    /// The bytes that `text` stands for; nil when it is not such text.
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
      // What is left over carries nothing.
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

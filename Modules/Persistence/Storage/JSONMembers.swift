extension UnsafeBufferPointer<UInt8> {
  /// Whether two buffers have equal bytes; quicker than `elementsEqual(_:)`, which compares one by one.
  func hasSameBytes(as other: Self) -> Bool {
    guard self.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in 0..<self.count { difference |= self[index] ^ other[index] }
    return difference == 0
  }
}

/// Goes through the members of an object in JSON without blanks, and does not look into their values.
struct JSONMembers {
  let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Whether everything was read.
  var isAtEnd: Bool { self.place == self.bytes.count }

  /// Begins the object. Returns whether it is one.
  mutating func begin() -> Bool { self.skip(UInt8(ascii: "{")) }

  /// The name of the next member; nil if it is none, or has escaped characters.
  mutating func key() -> UnsafeBufferPointer<UInt8>? {
    guard self.skip(UInt8(ascii: "\"")) else { return nil }
    let start = self.place
    while self.place < self.bytes.count, self.bytes[self.place] != UInt8(ascii: "\"") {
      if self.bytes[self.place] == UInt8(ascii: "\\") { return nil }
      self.place += 1
    }
    let key = UnsafeBufferPointer(rebasing: self.bytes[start..<self.place])
    return self.skip(UInt8(ascii: "\"")) && self.skip(UInt8(ascii: ":")) ? key : nil
  }

  /// Where the value of a member is; nil if it has no end, or characters that no encoder writes.
  mutating func value() -> Range<Int>? {
    let start = self.place
    var depth = 0
    while self.place < self.bytes.count {
      switch self.bytes[self.place] {
      case UInt8(ascii: "\""):
        guard self.skipString() else { return nil }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return start..<self.place }
        depth -= 1
      case UInt8(ascii: ","): if depth == 0 { return start..<self.place }
      // By such bytes a decoder takes a part for a text in another encoding.
      case ...UInt8(ascii: " "), 0x7F...: return nil
      default: break
      }
      self.place += 1
    }
    return nil
  }

  /// Goes to the next member, or behind the end of the object. Returns whether there is a member.
  mutating func next() -> Bool {
    if self.skip(UInt8(ascii: ",")) { return true }
    // Without an end there is a rest.
    _ = self.skip(UInt8(ascii: "}"))
    return false
  }

  private mutating func skipString() -> Bool {
    self.place += 1
    while self.place < self.bytes.count {
      switch self.bytes[self.place] {
      case UInt8(ascii: "\\"): self.place += 2
      case UInt8(ascii: "\""):
        self.place += 1
        return true
      case ..<UInt8(ascii: " "): return false
      default: self.place += 1
      }
    }
    return false
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard self.place < self.bytes.count, self.bytes[self.place] == byte else { return false }
    self.place += 1
    return true
  }
}

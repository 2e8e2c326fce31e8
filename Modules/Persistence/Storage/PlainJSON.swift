/// JSON as an encoder writes it, taken apart in one pass: without blanks, escaped characters and exponents.
///
/// Where something is not plain, it gives up, and a JSON decoder decodes or refuses the whole value. So a value from it is
/// the value that the decoder returns.
final class PlainJSON {
  struct Node {
    let kind: Kind
    /// The text, without the quotation marks of a string.
    let start: Int32
    let end: Int32
    /// The number of the first node behind this one and all that are in it.
    var next: Int32
  }

  enum Kind: UInt8 {
    case null
    case isFalse
    case isTrue
    case integer
    case decimal
    case string
    case list
    /// In it are a string and a value for each member.
    case object
  }

  /// The error that ends decoding after giving up; it is not thrown further.
  struct IsNotPlain: Error {}

  // Retained, because a container may be used after the value was decoded.
  let bytes: [UInt8]
  let nodes: [Node]
  private(set) var hasGivenUp = false

  /// Takes JSON apart; nil if it is not plain.
  init?(_ bytes: [UInt8], in range: Range<Int>) {
    guard bytes.count < Int32.max else { return nil }
    var parser = PlainJSONParser(place: range.lowerBound, end: range.upperBound)
    let isPlain = bytes.withUnsafeBufferPointer { parser.parse($0, depth: 0) }
    guard isPlain, parser.place == range.upperBound else { return nil }
    self.bytes = bytes
    self.nodes = parser.nodes
  }

  /// Notes that the decoder has to decode the value, even if the error does not get through.
  func giveUp() -> IsNotPlain {
    self.hasGivenUp = true
    return IsNotPlain()
  }

  func withText<R>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    self.bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[Int(node.start)..<Int(node.end)])) }
  }

  /// The number of the node of a member's value; nil if there is none.
  func member(_ name: String, of object: Int) throws -> Int? {
    var name = name
    var (found, count) = (0, 0)
    let isASCII = name.withUTF8 { name in
      var key = object + 1
      while key < Int(self.nodes[object].next) {
        if self.withText(of: self.nodes[key], { $0.hasSameBytes(as: name) }) {
          found = key + 1
          count += 1
        }
        key = Int(self.nodes[key + 1].next)
      }
      return count > 0 || name.allSatisfy { $0 < 0x80 }
    }
    // The decoder knows which of two members it takes, and takes some other characters for ASCII ones.
    guard count < 2, isASCII else { throw self.giveUp() }
    return count == 0 ? nil : found
  }
}

/// Takes JSON apart for ``PlainJSON``.
struct PlainJSONParser {
  private(set) var place: Int
  let end: Int
  private(set) var nodes: [PlainJSON.Node] = []

  init(place: Int, end: Int) {
    self.place = place
    self.end = end
    self.nodes.reserveCapacity(16)
  }

  /// Reads a value. Returns whether it is plain.
  mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>, depth: Int) -> Bool {
    guard self.place < self.end, depth < 32 else { return false }
    switch bytes[self.place] {
    case UInt8(ascii: "\""): return self.parseString(bytes)
    case UInt8(ascii: "{"): return self.parseParts(bytes, .object, end: UInt8(ascii: "}"), depth)
    case UInt8(ascii: "["): return self.parseParts(bytes, .list, end: UInt8(ascii: "]"), depth)
    case UInt8(ascii: "t"): return self.parse(bytes, "true", .isTrue)
    case UInt8(ascii: "f"): return self.parse(bytes, "false", .isFalse)
    case UInt8(ascii: "n"): return self.parse(bytes, "null", .null)
    default: return self.parseNumber(bytes)
    }
  }

  private mutating func append(_ kind: PlainJSON.Kind, _ start: Int, _ end: Int) {
    let next = Int32(self.nodes.count + 1)
    self.nodes.append(PlainJSON.Node(kind: kind, start: Int32(start), end: Int32(end), next: next))
  }

  private mutating func skip(_ bytes: UnsafeBufferPointer<UInt8>, _ byte: UInt8) -> Bool {
    guard self.place < self.end, bytes[self.place] == byte else { return false }
    self.place += 1
    return true
  }

  private mutating func parse(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ text: StaticString,
    _ kind: PlainJSON.Kind
  ) -> Bool {
    let start = self.place
    guard self.end - start >= text.utf8CodeUnitCount else { return false }
    self.place += text.utf8CodeUnitCount
    self.append(kind, start, self.place)
    let found = UnsafeBufferPointer(rebasing: bytes[start..<self.place])
    return text.withUTF8Buffer { $0.elementsEqual(found) }
  }

  private mutating func parseString(_ bytes: UnsafeBufferPointer<UInt8>, isName: Bool = false) -> Bool {
    guard self.skip(bytes, UInt8(ascii: "\"")) else { return false }
    let start = self.place
    while self.place < self.end {
      switch bytes[self.place] {
      case UInt8(ascii: "\""):
        self.append(.string, start, self.place)
        self.place += 1
        return true
      case UInt8(ascii: "\\"), ..<UInt8(ascii: " "): return false
      case 0x80... where isName: return false
      default: self.place += 1
      }
    }
    return false
  }

  private mutating func parseParts(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ kind: PlainJSON.Kind,
    end: UInt8,
    _ depth: Int
  ) -> Bool {
    let (index, start) = (self.nodes.count, self.place)
    self.append(kind, start, start)
    self.place += 1
    var count = 0
    if !self.skip(bytes, end) {
      repeat {
        if kind == .object {
          // Members are found one by one, which takes too long among many.
          count += 1
          guard count <= 64, self.parseString(bytes, isName: true), self.skip(bytes, UInt8(ascii: ":")) else {
            return false
          }
        }
        guard self.parse(bytes, depth: depth + 1) else { return false }
      } while self.skip(bytes, UInt8(ascii: ","))
      guard self.skip(bytes, end) else { return false }
    }
    self.nodes[index].next = Int32(self.nodes.count)
    return true
  }

  private mutating func parseNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = self.place
    _ = self.skip(bytes, UInt8(ascii: "-"))
    let whole = self.place
    guard self.skipDigits(bytes), self.place == whole + 1 || bytes[whole] != UInt8(ascii: "0") else { return false }
    if self.skip(bytes, UInt8(ascii: ".")) {
      guard self.skipDigits(bytes) else { return false }
      self.append(.decimal, start, self.place)
    } else {
      self.append(.integer, start, self.place)
    }
    return true
  }

  /// Goes behind some digits. Returns whether there are any.
  private mutating func skipDigits(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = self.place
    while self.place < self.end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[self.place]) { self.place += 1 }
    return self.place > start
  }
}

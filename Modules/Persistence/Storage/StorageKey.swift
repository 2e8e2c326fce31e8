internal import OperationCore

/// The keys of entries. They consist of ASCII characters, so that all storages compare them alike.
enum StorageKey {
  /// The prefix of the keys of stored values.
  static let values = "value/"

  /// The prefix of the keys of journal entries.
  static let journal = "journal/"

  /// The key of the value of the store at a path; nil if the description of an element changes with a restart.
  static func value(named name: String, at path: OperationPath) -> String? {
    self.values(matching: path).map { $0 + "=" + self.escaped(name) + "=" }
  }

  /// The prefix of the keys of all values at paths that start with `path`; nil as in ``value(named:at:)``.
  static func values(matching path: OperationPath) -> String? {
    var key = self.values
    for element in path {
      guard let text = self.text(of: element) else { return nil }
      key += text + "/"
    }
    return key
  }

  /// The key of a journal entry: keys sort in the order in which the calls were accepted.
  static func call(number: UInt64, id: String) -> String {
    let digits = String(number)
    return self.journal + String(repeating: "0", count: 20 - digits.count) + digits + "-" + self.escaped(id)
  }

  /// The number in a key of ``call(number:id:)``; nil for other keys.
  static func number(ofCall key: String) -> UInt64? {
    guard key.hasPrefix(self.journal) else { return nil }
    return UInt64(key.dropFirst(self.journal.count).prefix { $0 != "-" })
  }

  /// The text of a path in keys and journal entries; nil as in ``value(named:at:)``.
  static func text(of path: OperationPath) -> String? {
    self.values(matching: path).map { String($0.dropFirst(self.values.count)) }
  }

  // The kind comes first: `1` and `"1"` are different elements.
  private static func text(of element: OperationPath.Element) -> String? {
    switch element.base {
    case let string as String: return "s" + self.escaped(string)
    case let number as Int: return "i\(number)"
    case let base:
      let type: any Any.Type = Swift.type(of: base)
      // The description of an object names its type or its address in memory.
      if type is AnyObject.Type || base is ObjectIdentifier { return nil }
      return "x" + self.escaped(OperationName.of(type)) + ":" + self.escaped("\(base)")
    }
  }

  /// Replaces all characters but letters, digits, `-`, `_` and `.` with the percent-encoded bytes of their UTF-8.
  static func escaped(_ text: String) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        result.append(byte)
      default:
        result += [UInt8(ascii: "%"), self.digit(byte >> 4), self.digit(byte & 15)]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func digit(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
  }
}

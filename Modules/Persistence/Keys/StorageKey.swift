internal import OperationCore

/// The keys of entries. They consist of ASCII characters, so that all storages compare them alike.
///
/// Equal paths have equal keys, also in other processes, different paths have different keys, and the key of a path
/// begins with the keys of its prefixes.
package enum StorageKey {
  /// The prefix of the keys of stored values.
  package static let values = "value/"

  /// The prefix of the keys of journal entries.
  static let journal = "journal/"

  /// The key of an entry that is put to find out whether a storage can be written, and removed in the same batch.
  static let probe = "value/=probe="

  /// The key of the value of the store at a path.
  static func value(named name: String, at path: OperationPath) throws(NoStorageKey) -> String {
    var key = try self.keyOfValues(matching: path)
    key.append(byte: "=")
    key.append(escaping: name)
    key.append(byte: "=")
    return key.text
  }

  /// The prefix of the keys of the values at a path.
  static func values(at path: OperationPath) throws(NoStorageKey) -> String {
    var key = try self.keyOfValues(matching: path)
    key.append(byte: "=")
    return key.text
  }

  /// The prefix of the keys of all values at paths that start with `path`.
  static func values(matching path: OperationPath) throws(NoStorageKey) -> String {
    try self.keyOfValues(matching: path).text
  }

  private static func keyOfValues(matching path: OperationPath) throws(NoStorageKey) -> KeyText {
    var key = KeyText()
    // One allocation for most keys.
    key.reserveCapacity(64)
    key.append(self.values)
    for element in path {
      try key.append(element)
      key.append(byte: "/")
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
    // By bytes, because looking for characters takes a tenth of the time of a start that finds many calls.
    return UInt64(Substring(key.utf8.dropFirst(self.journal.utf8.count).prefix { $0 != UInt8(ascii: "-") }))
  }

  /// The text of a path in keys and journal entries; nil if an element has no key.
  static func text(of path: OperationPath) -> String? { try? self.storedText(of: path) }

  /// The text of a path in keys and journal entries.
  static func storedText(of path: OperationPath) throws(NoStorageKey) -> String {
    String(try self.values(matching: path).dropFirst(self.values.count))
  }

  /// The path of a text that ``text(of:)`` has returned, as a reader knows it: its elements with slashes between them.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - withoutSecrets: Whether a value of a type of the program is replaced by the name of the type, because it may be marked
  ///     as secret.
  /// - Returns: The elements.
  static func readablePath(_ text: String, withoutSecrets: Bool = false) -> String {
    // The text of a path without a key is its description.
    if withoutSecrets, text.hasPrefix("[") { return "…" }
    return text.utf8.split(separator: UInt8(ascii: "/")).map { element in
      switch element.first {
      case UInt8(ascii: "s"), UInt8(ascii: "i"): self.unescaped(element.dropFirst())
      // A type and a value, with a colon between them.
      case UInt8(ascii: "t"):
        if withoutSecrets, let name = self.nameOfOwnType(element) {
          name
        } else {
          self.unescaped(element.drop { $0 != UInt8(ascii: ":") }.dropFirst())
        }
      default: self.unescaped(element)
      }
    }
    .joined(separator: "/")
  }

  /// The name of the type of an element without its module, if it is one of the program; nil for a type of the library.
  private static func nameOfOwnType(_ element: Substring.UTF8View) -> String? {
    let name = self.unescaped(element.dropFirst().prefix { $0 != UInt8(ascii: ":") })
    // Names of other types begin with a module or an asterisk.
    let isOwn =
      name.contains("*") || (name.contains(".") && !["Unicode.Scalar", "OperationPath.Element"].contains(name))
    guard isOwn else { return nil }
    return name.contains("<") ? name : String(name.split { ".*".contains($0) }.last ?? "")
  }

  /// Whether no path has this key of a value any more: an earlier version of the library made it.
  static func isOutdated(_ key: String) -> Bool {
    for element in key.utf8.dropFirst(self.values.utf8.count).split(separator: UInt8(ascii: "/")) {
      switch element.first {
      case UInt8(ascii: "="): return false
      case UInt8(ascii: "x"): return true
      case UInt8(ascii: "s") where element.contains(UInt8(ascii: "%")):
        let text = self.unescaped(element.dropFirst())
        if !KeyText.normalized(text).utf8.elementsEqual(text.utf8) { return true }
      default: break
      }
    }
    return false
  }

  /// Replaces all characters but letters, digits, `-`, `_` and `.` with the percent-encoded bytes of their UTF-8.
  static func escaped(_ text: String) -> String {
    // Most names and elements need no escaping.
    if text.utf8.allSatisfy(self.isPlain) { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if self.isPlain(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), self.digit(byte >> 4), self.digit(byte & 15)]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether a byte is not escaped.
  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  static func unescaped(_ bytes: some Collection<UInt8>) -> String {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
        result.append(value)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func digit(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
  }
}

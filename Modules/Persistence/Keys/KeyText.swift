internal import OperationCore

/// The text of values in keys.
///
/// The texts of two values of one type are equal if the values are. A text with parts gives each part an end and is
/// bracketed, and a value's own characters are escaped, so no two values have the same text.
struct KeyText {
  private var bytes: [UInt8] = []
  /// Whether the values are parts of one that was decoded from its encoded form.
  let isVerified: Bool

  init(isVerified: Bool = false) {
    self.isVerified = isVerified
  }

  mutating func reserveCapacity(_ count: Int) {
    self.bytes.reserveCapacity(count)
  }

  var text: String { String(decoding: self.bytes, as: UTF8.self) }

  mutating func append(escaping text: String) {
    var text = text
    // Most names and elements need no escaping.
    let isPlain = text.withUTF8 { bytes in
      guard bytes.allSatisfy(StorageKey.isPlain) else { return false }
      self.bytes.append(contentsOf: bytes)
      return true
    }
    if !isPlain { self.append(StorageKey.escaped(Self.normalized(text))) }
  }

  /// Appends characters that need no escaping.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { self.bytes.append(contentsOf: $0) }
  }

  /// Appends an ASCII character that needs no escaping.
  mutating func append(byte: Unicode.Scalar) {
    self.bytes.append(UInt8(ascii: byte))
  }

  /// Appends the parts that `body` appends, each with its end.
  mutating func appendList<Parts: Sequence>(
    _ parts: Parts,
    _ body: (inout KeyText, Parts.Element) throws(NoStorageKey) -> Void
  ) throws(NoStorageKey) {
    self.append(byte: "(")
    for part in parts {
      try body(&self, part)
      self.append(byte: ",")
    }
    self.append(byte: ")")
  }

  /// Appends parts in the order of their texts, for values that have no order.
  mutating func appendSorted<Parts: Sequence>(
    _ parts: Parts,
    _ body: (inout KeyText, Parts.Element) throws(NoStorageKey) -> Void
  ) throws(NoStorageKey) {
    var texts: [String] = []
    for part in parts {
      var text = KeyText(isVerified: self.isVerified)
      try body(&text, part)
      texts.append(text.text)
    }
    texts.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    try self.appendList(texts) { $0.append($1) }
  }
}

// MARK: - Elements

extension KeyText {
  /// The text of an element: its kind, its type and its value.
  static func element(_ element: OperationPath.Element) throws(NoStorageKey) -> String {
    var text = KeyText()
    try text.append(element)
    return text.text
  }

  mutating func append(_ element: OperationPath.Element) throws(NoStorageKey) {
    try self.appendElement(element.base)
  }

  private mutating func appendElement<Base>(_ base: Base) throws(NoStorageKey) {
    // Most elements. The types are compared, because a cast would unwrap an optional.
    if Base.self == String.self, let string = base as? String {
      self.append(byte: "s")
      self.append(escaping: string)
    } else if Base.self == Int.self, let number = base as? Int {
      self.append(byte: "i")
      self.append(number.description)
    } else {
      self.append(byte: "t")
      self.append(escaping: try KeyTypeName.of(Base.self))
      self.append(byte: ":")
      try self.append(value: base)
    }
  }
}

// MARK: - Values

extension KeyText {
  /// Appends a value without its type.
  mutating func append<Value>(value: Value) throws(NoStorageKey) {
    if try self.appendKnown(value) { return }
    let start = self.bytes.endIndex
    if let value = value as? any RawRepresentable & Hashable {
      do throws(NoStorageKey) {
        return try self.append(raw: value)
      } catch {
        self.bytes.removeSubrange(start...)
      }
    }
    guard let value = value as? any Codable & Hashable else { throw NoStorageKey(type: Value.self) }
    try self.append(coded: value)
  }

  /// Appends a value of a type that has a text of its own. Returns whether it has.
  mutating func appendKnown<Value>(_ value: Value) throws(NoStorageKey) -> Bool {
    if Value.self is any StorageKeyConvertible.Type, let value = value as? any StorageKeyConvertible {
      try self.appendList(value.storageKey) { text, element throws(NoStorageKey) in try text.append(element) }
    } else if Value.self is any KeyPart.Type, let value = value as? any KeyPart {
      try value.append(to: &self)
    } else {
      return false
    }
    return true
  }

  private mutating func append<Value: RawRepresentable & Hashable>(raw value: Value) throws(NoStorageKey) {
    // Otherwise the raw value is the same for different values.
    guard Value(rawValue: value.rawValue) == value else { throw NoStorageKey(type: Value.self) }
    self.append("r")
    try self.append(value: value.rawValue)
  }

  private mutating func append<Value: Codable & Hashable>(coded value: Value) throws(NoStorageKey) {
    do {
      if !self.isVerified {
        // Different values with the same encoded form cannot both be decoded from it.
        let bytes = try StorageCoding.encode(value)
        guard try StorageCoding.decode(Value.self, from: bytes) == value else { throw NoStorageKey(type: Value.self) }
      }
      let node = KeyNode()
      try value.encode(to: KeyEncoder(node: node))
      self.append(node.text)
    } catch {
      throw error as? NoStorageKey ?? NoStorageKey(type: Value.self)
    }
  }
}

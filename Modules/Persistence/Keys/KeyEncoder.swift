/// What a value encodes: a value, or values with or without keys.
final class KeyNode {
  private enum Content {
    case nothing
    case value(String)
    case keyed
    case list
  }

  private var content = Content.nothing
  private var members: [String: KeyNode] = [:]
  private var elements: [KeyNode] = []

  /// The text, in which keys are sorted, because a value may encode them in any order.
  var text: String {
    switch self.content {
    case .nothing: return "-"
    case .value(let text): return text
    case .keyed:
      let members = self.members.map { (StorageKey.escaped(KeyText.normalized($0)), $1) }
        .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      return "[" + members.map { "\($0):\($1.text)," }.joined() + "]"
    case .list: return "(" + self.elements.map { "\($0.text)," }.joined() + ")"
    }
  }

  func beginMembers() {
    self.content = .keyed
  }

  func beginElements() {
    self.content = .list
  }

  func member(_ key: any CodingKey) -> KeyNode {
    // A class may encode the members of its superclass into the same container.
    if let node = self.members[key.stringValue] { return node }
    let node = KeyNode()
    self.members[key.stringValue] = node
    return node
  }

  func addElement() -> KeyNode {
    let node = KeyNode()
    self.elements.append(node)
    return node
  }

  func encodeNil() {
    self.content = .value("n")
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    var text = KeyText(isVerified: true)
    if try text.appendKnown(value) {
      // The name without the names of arguments, which may be private.
      let kind =
        Value.self is any StorageKeyConvertible.Type
        ? try KeyTypeName.of(Value.self) : String("\(Value.self)".prefix { $0 != "<" })
      self.content = .value("\(StorageKey.escaped(kind)):\(text.text)")
    } else {
      try value.encode(to: KeyEncoder(node: self))
    }
  }
}

/// Encodes values for keys, with the texts that equal values share.
struct KeyEncoder: Encoder {
  let node: KeyNode
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    self.node.beginMembers()
    return KeyedEncodingContainer(KeyedKeyContainer(node: self.node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    self.node.beginElements()
    return UnkeyedKeyContainer(node: self.node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleKeyContainer(node: self.node) }
}

/// Encodes the members of a value, for ``KeyEncoder``.
private struct KeyedKeyContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: KeyNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { self.node.member(key).encodeNil() }
  func encode(_ value: some Encodable, forKey key: Key) throws { try self.node.member(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyEncoder(node: self.node.member(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    KeyEncoder(node: self.node.member(key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { KeyEncoder(node: self.node.member(SuperKey())) }
  func superEncoder(forKey key: Key) -> any Encoder { KeyEncoder(node: self.node.member(key)) }
}

private struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }

  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}

/// Encodes the elements of a value, for ``KeyEncoder``.
private struct UnkeyedKeyContainer: UnkeyedEncodingContainer {
  let node: KeyNode
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(node: KeyNode) {
    self.node = node
  }

  private mutating func next() -> KeyNode {
    self.count += 1
    return self.node.addElement()
  }

  mutating func encodeNil() { self.next().encodeNil() }
  mutating func encode(_ value: some Encodable) throws { try self.next().encode(value) }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyEncoder(node: self.next()).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    KeyEncoder(node: self.next()).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { KeyEncoder(node: self.next()) }
}

/// Encodes one value, for ``KeyEncoder``.
private struct SingleKeyContainer: SingleValueEncodingContainer {
  let node: KeyNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { self.node.encodeNil() }
  func encode(_ value: some Encodable) throws { try self.node.encode(value) }
}

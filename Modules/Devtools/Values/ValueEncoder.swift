#if SwiftOperationDevtools
  /// Collects what a value encodes, as the children of a node.
  final class ValueEncoder: Encoder {
    private enum Part {
      case node(ValueNode)
      case nested(label: String, ValueEncoder)
    }

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let reader: ValueReader
    private let depth: Int
    private var parts: [Part] = []
    private var leftOut = 0
    private var single: ValueNode?

    init(_ reader: ValueReader, depth: Int) {
      self.reader = reader
      self.depth = depth
    }

    /// The node of the value that was encoded.
    func node(_ type: String) -> ValueNode {
      if let single { return single }
      var node = ValueNode(type: type)
      node.leftOut = self.leftOut
      node.children = self.parts.map { part in
        switch part {
        case .node(let node): return node
        case .nested(let label, let encoder):
          var node = encoder.node("")
          node.label = label
          return node
        }
      }
      return node
    }

    /// The names of the members.
    var labels: Set<String> {
      Set(
        self.parts.map { part in
          switch part {
          case .node(let node): node.label ?? ""
          case .nested(let label, _): label
          }
        }
      )
    }

    fileprivate var count: Int { self.parts.count + self.leftOut }

    fileprivate func add(_ value: Any, _ label: String) {
      guard self.reader.allows(self.parts.count) else {
        self.leftOut += 1
        return
      }
      var node = self.reader.read(value, depth: self.depth + 1)
      node.label = label
      self.parts.append(.node(node))
    }

    fileprivate func addNil(_ label: String) {
      var node = ValueNode(type: "nil", text: "nil")
      node.label = label
      self.parts.append(.node(node))
    }

    fileprivate func nested(_ label: String) -> ValueEncoder {
      let encoder = ValueEncoder(self.reader, depth: self.depth + 1)
      self.parts.append(.nested(label: label, encoder))
      return encoder
    }

    fileprivate func setSingle(_ value: Any) { self.single = self.reader.read(value, depth: self.depth + 1) }

    fileprivate func setNil() { self.single = ValueNode(type: "nil", text: "nil") }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      KeyedEncodingContainer(Keyed(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Unkeyed(encoder: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey] = []
    let encoder: ValueEncoder

    func encodeNil(forKey key: Key) { self.encoder.addNil(key.stringValue) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) { self.encoder.add(value, key.stringValue) }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy keyType: NestedKey.Type,
      forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
      self.encoder.nested(key.stringValue).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      self.encoder.nested(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { self.encoder.nested("super") }

    func superEncoder(forKey key: Key) -> any Encoder { self.encoder.nested(key.stringValue) }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let codingPath: [any CodingKey] = []
    let encoder: ValueEncoder

    var count: Int { self.encoder.count }

    func encodeNil() { self.encoder.addNil("\(self.count)") }

    func encode<T: Encodable>(_ value: T) { self.encoder.add(value, "\(self.count)") }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
      self.encoder.nested("\(self.count)").container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      self.encoder.nested("\(self.count)").unkeyedContainer()
    }

    func superEncoder() -> any Encoder { self.encoder.nested("super") }
  }

  private struct Single: SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    let encoder: ValueEncoder

    func encodeNil() { self.encoder.setNil() }

    func encode<T: Encodable>(_ value: T) { self.encoder.setSingle(value) }
  }
#endif

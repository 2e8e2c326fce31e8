internal import OperationPersistence

/// The bytes of a shared value: a line with the format and the name of the node that ran, and then the value as JSON.
struct FleetEnvelope<Value: Codable> {
  let value: Value
  /// The name of the node that has computed the value.
  let node: String

  private static var format: String { "fleet1" }

  init(value: Value, node: String) {
    self.value = value
    self.node = node
  }

  /// Nil for a format of a later version, and for bytes that are not of this type.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = bytes[..<end].split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2, words[0].elementsEqual(Self.format.utf8),
      let value = try? StorageCoding.decode(Value.self, from: bytes[(end + 1)...])
    else { return nil }
    self.init(value: value, node: String(decoding: words[1], as: UTF8.self))
  }

  func encoded() throws -> [UInt8] {
    let name = String(self.node.map { $0.isNewline ? " " : $0 })
    return try Array("\(Self.format) \(name)\n".utf8) + StorageCoding.encode(self.value)
  }
}

/// The bytes of a shared value: a line with the format and the name of the node that ran, and then the value as JSON.
struct FleetEnvelope {
  /// The value as JSON.
  let content: ArraySlice<UInt8>
  /// The name of the node that has computed the value.
  let node: String

  private static let format = "fleet1"

  init(_ content: [UInt8], node: String) {
    self.content = content[...]
    self.node = node
  }

  /// Nil for a format of a later version.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = bytes[..<end].split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2, words[0].elementsEqual(Self.format.utf8) else { return nil }
    self.content = bytes[(end + 1)...]
    self.node = String(decoding: words[1], as: UTF8.self)
  }

  var bytes: [UInt8] {
    let name = String(self.node.map { $0.isNewline ? " " : $0 })
    return Array("\(Self.format) \(name)\n".utf8) + self.content
  }
}

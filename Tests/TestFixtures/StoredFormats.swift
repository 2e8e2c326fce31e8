import FoundationEssentials

/// What versions of the library have stored, kept as files in `Tests/StoredFormats`.
///
/// A file has a line for each entry: a JSON object with its key, and its value as text or in Base64.
package enum StoredFormats {
  /// An entry of a storage.
  package struct Entry: Codable, Hashable, Sendable {
    package let key: String
    private var text: String?
    private var base64: String?

    package init(key: String, value: [UInt8]) {
      self.key = key
      self.text = String(validating: value, as: UTF8.self)
      self.base64 = self.text == nil ? Data(value).base64EncodedString() : nil
    }

    package var value: [UInt8] {
      self.text.map { Array($0.utf8) } ?? Array(self.base64.flatMap { Data(base64Encoded: $0) } ?? Data())
    }
  }

  /// The entries of a file.
  package static func entries(of name: String) throws -> [Entry] {
    let data = try Data(contentsOf: URL(filePath: self.path(of: name)))
    return try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Entry.self, from: Data($0)) }
  }

  /// Writes a file, for a new format.
  package static func write(_ entries: [Entry], to name: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let lines = try entries.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
    try Data(lines.joined().utf8).write(to: URL(filePath: self.path(of: name)))
  }

  private static func path(of name: String) -> String {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return "/\(tests)/StoredFormats/\(name).jsonl"
  }
}

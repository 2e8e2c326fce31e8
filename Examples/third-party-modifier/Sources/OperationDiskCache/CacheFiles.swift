import Foundation
import OperationCore

/// The files of a cache: for each value one with a line of JSON that says what is known of it, and then its bytes.
struct CacheFiles: Sendable {
  let directory: URL

  init(directory: URL) throws {
    self.directory = directory
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  /// The name of the file of a value; nil if its path has other elements than strings and integers, or is too long.
  ///
  /// Different keys have different names: each element begins with its type, and ends with a dot that it does not contain.
  static func name(of key: LevelKey) -> String? {
    var text = ""
    for element in key.path {
      switch element.base {
      case let string as String: text += "s\(self.escaped(string))."
      case let number as Int: text += "i\(number)."
      default: return nil
      }
    }
    text += "=" + self.escaped(key.name)
    return text.utf8.count <= 200 ? text : nil
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || character == "-")
      result += isPlain ? String(character) : "_" + String(byte, radix: 16) + "_"
    }
  }

  private func url(_ name: String) -> URL { self.directory.appending(path: name) }

  private func staleURL(_ name: String) -> URL { self.directory.appending(path: name + ".stale") }
}

// MARK: - Reading and writing

extension CacheFiles {
  /// All values. Files that cannot be read are removed.
  func entries() throws -> [String: DiskCache.Entry] {
    var entries: [String: DiskCache.Entry] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: self.directory.path()) where name.contains("=") {
      if name.hasSuffix(".stale") { continue }
      if let (header, _) = try? self.read(name) {
        let isStale = FileManager.default.fileExists(atPath: self.staleURL(name).path())
        let value = header.value(isInvalidated: isStale) { [self] in try self.read(name).bytes }
        entries[name] = DiskCache.Entry(value: value, path: header.operationPath)
      } else {
        try self.remove(name)
      }
    }
    return entries
  }

  private func read(_ name: String) throws -> (header: Header, bytes: [UInt8]) {
    let data = try Data(contentsOf: self.url(name))
    guard let end = data.firstIndex(of: UInt8(ascii: "\n")) else { throw CocoaError(.fileReadCorruptFile) }
    return (try JSONDecoder().decode(Header.self, from: data[..<end]), Array(data[(end + 1)...]))
  }

  /// Writes a value, and returns it as one whose bytes are in the file.
  func write(_ value: LevelValue, for key: LevelKey, as name: String) throws -> LevelValue {
    let header = Header(of: value, key)
    let data = try JSONEncoder().encode(header) + [UInt8(ascii: "\n")] + value.bytes()
    // The mark of a fresh value goes last: if the process ends in between, the value is stale.
    if value.isInvalidated { try self.markStale(name) }
    try data.write(to: self.url(name), options: .atomic)
    if !value.isInvalidated { try self.removeFile(self.staleURL(name)) }
    var written = header.value(isInvalidated: value.isInvalidated) { [self] in try self.read(name).bytes }
    written.seen = value.seen
    return written
  }

  func markStale(_ name: String) throws { try Data().write(to: self.staleURL(name)) }

  func remove(_ name: String) throws {
    try self.removeFile(self.url(name))
    try self.removeFile(self.staleURL(name))
  }

  private func removeFile(_ url: URL) throws {
    if FileManager.default.fileExists(atPath: url.path()) { try FileManager.default.removeItem(at: url) }
  }
}

// MARK: - What is known of a value

/// The first line of a file.
private struct Header: Codable {
  private enum Element: Codable {
    case string(String)
    case number(Int)
  }

  private let path: [Element]
  private let tags: [[Element]]
  private let version: Int
  private let kind: String
  private let freshSeconds: Double?
  private let date: Double?

  init(of value: LevelValue, _ key: LevelKey) {
    self.path = Self.elements(of: key.path) ?? []
    self.tags = value.tags.compactMap(Self.elements)
    self.version = key.version
    self.kind =
      switch value.stamp.kind {
      case .final: "final"
      case .set: "set"
      default: "partial"
      }
    self.freshSeconds = value.stamp.freshness.map { $0 / .seconds(1) }
    self.date = value.date?.timeIntervalSinceReferenceDate
  }

  var operationPath: OperationPath { Self.path(of: self.path) }

  /// The value as another process finds it: it has seen no invalidation of this process.
  func value(isInvalidated: Bool, bytes: @escaping @Sendable () throws -> [UInt8]) -> LevelValue {
    var stamp = ValueStamp(self.kind == "final" ? .final : self.kind == "set" ? .set : .partial)
    stamp.freshness = self.freshSeconds.map { .seconds($0) }
    let tags = self.tags.map(Self.path)
    return LevelValue(
      stamp: stamp,
      date: self.date.map { Date(timeIntervalSinceReferenceDate: $0) },
      isInvalidated: isInvalidated,
      version: self.version,
      tags: tags,
      bytes: bytes
    )
  }

  /// Nil for a path with other elements than strings and integers.
  private static func elements(of path: OperationPath) -> [Element]? {
    var elements: [Element] = []
    for element in path {
      switch element.base {
      case let string as String: elements.append(.string(string))
      case let number as Int: elements.append(.number(number))
      default: return nil
      }
    }
    return elements
  }

  private static func path(of elements: [Element]) -> OperationPath {
    var path = OperationPath()
    for element in elements {
      switch element {
      case .string(let string): path.append(string)
      case .number(let number): path.append(number)
      }
    }
    return path
  }
}

extension LevelValue {
  /// The value with bytes that were read.
  func with(bytes: [UInt8]) -> LevelValue {
    let tags = self.tags
    var value = LevelValue(
      stamp: self.stamp,
      date: self.date,
      seen: self.seen,
      isInvalidated: self.isInvalidated,
      version: self.version,
      tags: tags
    ) {
      bytes
    }
    value.revision = self.revision
    return value
  }
}

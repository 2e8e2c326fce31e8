internal import OperationCore

/// Why a stored value is not used.
enum DropReason: Error, CustomStringConvertible {
  case format
  case version(Int, expected: Int)
  /// It was written by a later version of the program or of the library; the text says so.
  case newer(String)
  case age(seconds: Double, maximum: Duration)
  case undecodable(any Error)

  var description: String {
    switch self {
    case .format: "it was written in a form that this version of the library does not know"
    case .newer(let text): text
    case .version(let version, let expected):
      "it has the version \(version), and the operation asks for \(expected)"
    case .age(let seconds, let maximum): "it is \(seconds) seconds old, and may be \(maximum) old at most"
    case .undecodable(let error): "its bytes cannot be decoded: \(ShownText.whole(error))"
    }
  }
}

/// The stored form of a value: a line with its format, its version and its ``ValueMark``, and then its bytes.
///
/// The line is not part of the bytes, because it decides whether these can be decoded.
enum Envelope {
  private static let name = "value"
  private static let format = 1

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value, which is encoded.
  ///   - version: The version of its encoded form.
  ///   - seen: What it has seen of the invalidations that its place remembers.
  /// - Returns: The bytes.
  /// - Throws: The error of the encoder.
  static func write(_ value: LevelValue, version: Int, seen: ValueMark.Seen? = nil) throws -> [UInt8] {
    let header = "\(self.name)\(self.format) \(version) \(ValueMark(of: value, seen: seen).text)\n"
    return try Array(header.utf8) + value.bytes()
  }

  /// Takes the first word of a line; nil if all of them were taken.
  private static func nextWord(_ line: inout ArraySlice<UInt8>?) -> ArraySlice<UInt8>? {
    guard let rest = line else { return nil }
    let word = rest.prefix { $0 != UInt8(ascii: " ") }
    line = word.endIndex < rest.endIndex ? rest[(word.endIndex + 1)...] : nil
    return word
  }

  /// The version of a value and where its bytes begin, without decoding it; nil if its form is not known.
  static func header(of bytes: [UInt8]) -> (version: Int, end: Int)? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = bytes[..<end].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[0].elementsEqual("\(self.name)\(self.format)".utf8) else { return nil }
    return Int(String(decoding: words[1], as: UTF8.self)).map { ($0, end + 1) }
  }

  /// Reads the first line of a value.
  ///
  /// - Parameter bytes: The stored bytes.
  /// - Returns: The version of the value, its mark, and where its own bytes begin.
  /// - Throws: Why it is not used.
  static func read(_ bytes: [UInt8]) throws(DropReason) -> (version: Int, mark: ValueMark, end: Int) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw .format }
    var line: ArraySlice<UInt8>? = bytes[..<end]
    guard let form = self.nextWord(&line), form.starts(with: self.name.utf8) else { throw .format }
    let format = Int(String(decoding: form.dropFirst(self.name.utf8.count), as: UTF8.self)) ?? 0
    if format > self.format {
      throw .newer("it has the format \(format), and this version of the library knows \(self.format) at most")
    }
    guard format == self.format, let number = self.nextWord(&line), let mark = self.nextWord(&line), line == nil,
      let version = Int(String(decoding: number, as: UTF8.self))
    else { throw .format }
    return (version, ValueMark(String(decoding: mark, as: UTF8.self)), end + 1)
  }

  /// Decodes the bytes of a value.
  ///
  /// - Parameters:
  ///   - type: The type of the restoration.
  ///   - value: The value.
  ///   - version: The version of the operation.
  ///   - coder: Decodes values of that version.
  ///   - migrate: Decodes values of earlier versions; nil if they are dropped.
  /// - Returns: The restoration, and whether it has the version of the operation.
  /// - Throws: Why it is not used.
  static func decode<Restoration: Decodable>(
    _ type: Restoration.Type,
    from value: LevelValue,
    version: Int,
    coder: any StorageCoder = .json,
    migrate: (([UInt8], Int) throws -> Restoration)? = nil
  ) throws(DropReason) -> (restoration: Restoration, isCurrent: Bool) {
    let found = value.version ?? version
    if found > version { throw .newer("it has the version \(found), and the operation asks for \(version)") }
    do {
      let bytes = try value.bytes()
      if found == version { return (try coder.decode(type, from: bytes), true) }
      guard let migrate else { throw DropReason.version(found, expected: version) }
      return (try migrate(bytes, found), false)
    } catch let reason as DropReason {
      throw reason
    } catch {
      throw .undecodable(error)
    }
  }
}

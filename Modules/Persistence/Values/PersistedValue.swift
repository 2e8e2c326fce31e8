/// The stored part of a state.
struct PersistedState<Restoration> {
  let restoration: Restoration
  let mark: ValueMark
}

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
    case .undecodable(let error): "its bytes cannot be decoded: \(error)"
    }
  }
}

/// The stored form of a value: a line with its format, its version and its ``ValueMark``, and then its bytes.
///
/// The line is not part of the bytes, because it decides whether these can be decoded.
enum Envelope {
  private static let name = "value"
  private static let format = 1

  static func write<Restoration: Encodable>(
    _ state: PersistedState<Restoration>,
    version: Int,
    coder: any StorageCoder = .json
  ) throws -> [UInt8] {
    let header = "\(self.name)\(self.format) \(version) \(state.mark.text)\n"
    return try Array(header.utf8) + coder.encode(state.restoration)
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

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The type of the restoration.
  ///   - bytes: The stored bytes.
  ///   - version: The version of the operation.
  ///   - coder: Decodes values of that version.
  ///   - migrate: Decodes values of earlier versions; nil if they are dropped.
  /// - Returns: The value.
  /// - Throws: Why it is not used.
  static func read<Restoration: Decodable>(
    _ type: Restoration.Type,
    from bytes: [UInt8],
    version: Int,
    coder: any StorageCoder = .json,
    migrate: (([UInt8], Int) throws -> Restoration)? = nil
  ) throws(DropReason) -> PersistedState<Restoration> {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw .format }
    var line: ArraySlice<UInt8>? = bytes[..<end]
    guard let form = self.nextWord(&line), form.starts(with: self.name.utf8) else { throw .format }
    let format = Int(String(decoding: form.dropFirst(self.name.utf8.count), as: UTF8.self)) ?? 0
    if format > self.format {
      throw .newer("it has the format \(format), and this version of the library knows \(self.format) at most")
    }
    guard format == self.format, let number = self.nextWord(&line), let mark = self.nextWord(&line), line == nil,
      let found = Int(String(decoding: number, as: UTF8.self))
    else { throw .format }
    if found > version { throw .newer("it has the version \(found), and the operation asks for \(version)") }
    let content = Array(bytes[(end + 1)...])
    do {
      let restoration: Restoration
      if found == version {
        restoration = try coder.decode(type, from: content)
      } else if let migrate {
        restoration = try migrate(content, found)
      } else {
        throw DropReason.version(found, expected: version)
      }
      return PersistedState(restoration: restoration, mark: ValueMark(String(decoding: mark, as: UTF8.self)))
    } catch let reason as DropReason {
      throw reason
    } catch {
      throw .undecodable(error)
    }
  }
}

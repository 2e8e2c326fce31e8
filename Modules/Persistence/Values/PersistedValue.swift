/// The stored part of a state.
struct PersistedState<Restoration> {
  let restoration: Restoration
  /// Whether the store was invalidated since its value was updated last.
  let isInvalidated: Bool
}

/// Why a stored value is not used.
enum DropReason: Error, CustomStringConvertible {
  case format
  case version(Int, expected: Int)
  case age(seconds: Double, maximum: Duration)
  case undecodable(any Error)

  var description: String {
    switch self {
    case .format: "it was written in a form that this version of the library does not know"
    case .version(let version, let expected): "it has the version \(version), and the operation asks for \(expected)"
    case .age(let seconds, let maximum): "it is \(seconds) seconds old, and may be \(maximum) old at most"
    case .undecodable(let error): "its bytes cannot be decoded: \(error)"
    }
  }
}

/// The stored form of a value: a line with its format, its version and whether it was invalidated, and then its JSON.
///
/// The line is not part of the JSON, because it decides whether the JSON can be decoded.
enum Envelope {
  private static let format = "value1"

  static func write<Restoration: Encodable>(_ state: PersistedState<Restoration>, version: Int) throws -> [UInt8] {
    let header = "\(self.format) \(version) \(state.isInvalidated ? 1 : 0)\n"
    return try Array(header.utf8) + StorageCoding.encode(state.restoration)
  }

  static func read<Restoration: Decodable>(
    _ type: Restoration.Type,
    from bytes: [UInt8],
    version: Int
  ) throws(DropReason) -> PersistedState<Restoration> {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw .format }
    let words = bytes[..<end].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[0].elementsEqual(self.format.utf8) else { throw .format }
    guard let found = Int(String(decoding: words[1], as: UTF8.self)) else { throw .format }
    guard found == version else { throw .version(found, expected: version) }
    do {
      return PersistedState(
        restoration: try StorageCoding.decode(type, from: bytes[(end + 1)...]),
        isInvalidated: words[2].elementsEqual([UInt8(ascii: "1")])
      )
    } catch {
      throw .undecodable(error)
    }
  }
}

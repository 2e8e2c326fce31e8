/// What is stored of a state.
struct PersistedState<Restoration> {
  let restoration: Restoration
  /// Whether the store was invalidated, and the value was not refreshed since.
  let isInvalidated: Bool
}

/// Why a stored value is not used.
enum DropReason: Error, CustomStringConvertible {
  case format(Int)
  case version(Int, expected: Int)
  case age(seconds: Double, maximum: Duration)
  case excluded
  case undecodable(any Error)

  var description: String {
    switch self {
    case .format(let format): "it was written in the format \(format), which this version of the library does not know"
    case .version(let version, let expected): "it has the version \(version), and the operation asks for \(expected)"
    case .age(let seconds, let maximum): "it is \(seconds) seconds old, and may be \(maximum) old at most"
    case .excluded: "`unless` says that it may not be stored"
    case .undecodable(let error): "its bytes cannot be decoded: \(error)"
    }
  }
}

/// The stored form of a value: its format and version come first, as the rest depends on them.
private enum EnvelopeKeys: String, CodingKey {
  case format, version, isInvalidated, state
}

private let currentFormat = 1

struct OutgoingEnvelope<Restoration: Encodable>: Encodable {
  let version: Int
  let state: PersistedState<Restoration>

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: EnvelopeKeys.self)
    try container.encode(currentFormat, forKey: .format)
    try container.encode(self.version, forKey: .version)
    if self.state.isInvalidated { try container.encode(true, forKey: .isInvalidated) }
    try container.encode(self.state.restoration, forKey: .state)
  }
}

struct IncomingEnvelope<Restoration: Decodable>: Decodable {
  /// The version that the value was stored with; the state of another one is not decoded.
  let version: Int
  let format: Int
  let state: Result<PersistedState<Restoration>, any Error>

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: EnvelopeKeys.self)
    self.format = try container.decode(Int.self, forKey: .format)
    self.version = try container.decode(Int.self, forKey: .version)
    self.state = Result {
      PersistedState(
        restoration: try container.decode(Restoration.self, forKey: .state),
        isInvalidated: try container.decodeIfPresent(Bool.self, forKey: .isInvalidated) ?? false
      )
    }
  }

  /// Reads stored bytes.
  static func read(_ bytes: [UInt8], version: Int) throws(DropReason) -> PersistedState<Restoration> {
    let envelope: Self
    do { envelope = try StorageCoding.decode(Self.self, from: bytes) } catch { throw .undecodable(error) }
    guard envelope.format == currentFormat else { throw .format(envelope.format) }
    guard envelope.version == version else { throw .version(envelope.version, expected: version) }
    do { return try envelope.state.get() } catch { throw .undecodable(error) }
  }
}

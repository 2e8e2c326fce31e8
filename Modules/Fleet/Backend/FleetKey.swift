/// What an invalidation concerns: a prefix of paths, or a tag.
///
/// Its text consists of ASCII characters, and is at most ``FleetLimits/keyLength`` bytes long. It is the same for the
/// same paths and tags in each process, and differs for different ones.
public struct FleetSubject: Hashable, Sendable, CustomStringConvertible {
  /// The text, by which subjects are compared.
  public let text: String

  /// Creates a subject.
  ///
  /// - Parameter text: The text, by which subjects are compared.
  public init(_ text: String) {
    self.text = text
  }

  /// The text.
  public var description: String { self.text }
}

/// The name of a value in a fleet, with the prefixes of the path that it belongs to.
public struct FleetKey: Hashable, Sendable, CustomStringConvertible {
  /// The text, by which keys are compared: ASCII characters, at most ``FleetLimits/keyLength`` bytes.
  ///
  /// It contains the path, the name and the version of the value, so that programs of different versions have different
  /// keys, and none reads what it does not understand.
  public let text: String

  /// The prefixes of the path, each of which may be invalidated; the first prefix is the one of all paths.
  public let subjects: [FleetSubject]

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - text: The text, by which keys are compared.
  ///   - subjects: The prefixes of the path. They are the same for the same text.
  public init(_ text: String, subjects: [FleetSubject]) {
    self.text = text
    self.subjects = subjects
  }

  /// The text.
  public var description: String { self.text }

  /// Whether two keys have the same text.
  public static func == (lhs: FleetKey, rhs: FleetKey) -> Bool { lhs.text == rhs.text }

  /// Feeds the text to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.text)
  }
}

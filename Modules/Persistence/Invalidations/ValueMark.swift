/// What the first line of a stored value says of invalidations.
///
/// Earlier versions of the library write `0` or `1`, and take everything but `1` for `0`.
struct ValueMark: Equatable, Sendable {
  /// A place in the order of the invalidations of one process.
  struct Seen: Equatable, Sendable {
    /// The process: see ``StoredInvalidations``.
    let log: String
    let number: Int
  }

  /// Whether the value is stale, whatever its age.
  var isInvalidated = false
  /// What the run of the value had seen; nil if the storage had no invalidations then.
  var seen: Seen?
  /// The tags of the value, as ``StoredSubject`` writes them.
  var tags: [String] = []

  static let invalidated = Self(isInvalidated: true)

  /// In the place of more tags: the value has perhaps any tag.
  static let anyTag = "n"
  private static let maximumTags = 500

  var text: String {
    if self.isInvalidated { return "1" }
    var parts = ["0"]
    if let seen { parts.append("s\(seen.log):\(seen.number)") }
    parts += self.tags.count > Self.maximumTags ? [Self.anyTag] : self.tags
    return parts.joined(separator: ";")
  }
}

extension ValueMark {
  /// Reads what ``text`` has written. Unknown parts are of a later version, and are left out.
  init(_ text: some StringProtocol) {
    self.init(isInvalidated: text == "1")
    for part in text.split(separator: ";").dropFirst() {
      switch part.utf8.first {
      case UInt8(ascii: "s"):
        let words = part.dropFirst().split(separator: ":")
        if words.count == 2, let number = Int(words[1]) { self.seen = Seen(log: String(words[0]), number: number) }
      case UInt8(ascii: "t"), UInt8(ascii: "n"): self.tags.append(String(part))
      default: break
      }
    }
  }
}

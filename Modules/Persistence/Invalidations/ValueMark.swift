internal import OperationCore

/// What the first line of a stored value says of it.
///
/// Earlier versions of the library write `0` or `1`, and take everything but `1` for `0`.
struct ValueMark: Equatable, Sendable {
  /// A place in the order of the invalidations of one process.
  struct Seen: Equatable, Sendable {
    /// The process: see ``StoredInvalidations``.
    let log: String
    let number: Int
  }

  /// Whether the value is stale, whatever its age: it is partial, or was invalidated.
  var isInvalidated = false
  /// What the run of the value had seen; nil if the storage had no invalidations then.
  var seen: Seen?
  /// The tags of the value, as ``StoredSubject`` writes them.
  var tags: [String] = []
  /// The seconds for which its run has called the value fresh; nil if it has not.
  var freshSeconds: Double?

  /// In the place of more tags: the value has perhaps any tag.
  static let anyTag = "n"
  private static let maximumTags = 500

  var text: String {
    if self.isInvalidated { return "1" }
    var parts = ["0"]
    if let seen { parts.append("s\(seen.log):\(seen.number)") }
    if let freshSeconds { parts.append("f\(freshSeconds)") }
    parts += self.tags.count > Self.maximumTags ? [Self.anyTag] : self.tags
    return parts.joined(separator: ";")
  }

  /// What is known of the value. One that was set counts as one that a run has returned.
  var stamp: ValueStamp {
    var stamp = ValueStamp(self.isInvalidated ? .partial : .final)
    stamp.freshness = self.freshSeconds.map { .seconds($0) }
    return stamp
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
      case UInt8(ascii: "f"):
        if let seconds = Double(part.dropFirst()), seconds.isFinite, 0..<1e15 ~= seconds { self.freshSeconds = seconds }
      case UInt8(ascii: "t"), UInt8(ascii: "n"): self.tags.append(String(part))
      default: break
      }
    }
  }

  /// What is written of a value. Its tags are evaluated.
  init(of value: LevelValue, seen: Seen? = nil) {
    self.isInvalidated = value.isInvalidated || value.stamp.kind == .partial
    if self.isInvalidated { return }
    self.seen = seen
    self.tags = value.tags.compactMap { StoredSubject.text(ofTag: $0) }
    self.freshSeconds = value.stamp.freshness.map { $0 / .seconds(1) }
  }
}

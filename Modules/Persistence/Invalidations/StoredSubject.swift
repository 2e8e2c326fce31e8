internal import OperationCore

/// The texts of what is invalidated, in the storage.
///
/// - The paths that start with one: `p` and the text of the path in keys: `psposts/i5/`.
/// - A tag: `t`, its name, and the text of its identifier after a colon: `tpost:i5`.
/// - All tags of a name: `n` and the name: `npost`.
enum StoredSubject {
  /// All values.
  static let everything = "p"

  /// The text of a subject; nil if it concerns no value that can be stored.
  static func text(of subject: InvalidationSubject) -> String? {
    switch subject {
    // A path with an element that has no text is not one of a stored value.
    case .path(let path): StorageKey.text(of: path).map { "p" + $0 }
    case .tag(let tag): self.text(ofTag: tag)
    case .tags(let name): "n" + PathKey.escaped(name)
    }
  }

  /// The text of a tag. One with an identifier that has no text counts as all tags of its name.
  static func text(ofTag tag: OperationPath) -> String? {
    guard let name = (tag.first?.base as? String).map(PathKey.escaped) else { return nil }
    guard let identifier = tag.dropFirst().first else { return "t" + name }
    return PathKey([identifier]).map { "t\(name):\($0.elements[0])" } ?? "n" + name
  }

  /// The tag of a text that ``text(ofTag:)`` has returned; nil for all tags of a name, and for an identifier that is neither
  /// a string nor an integer, whose type is not known.
  static func tag(ofText text: String) -> OperationPath? {
    guard text.utf8.first == UInt8(ascii: "t") else { return nil }
    let parts = text.dropFirst().split(separator: ":", maxSplits: 1)
    guard let first = parts.first else { return nil }
    let name = StorageKey.unescaped(first.utf8)
    guard parts.count == 2 else { return [name] }
    let identifier = parts[1].dropFirst()
    switch parts[1].utf8.first {
    case UInt8(ascii: "s"): return [name, StorageKey.unescaped(identifier.utf8)]
    case UInt8(ascii: "i"): return Int(identifier).map { [name, $0] }
    default: return nil
    }
  }

  /// The text of all tags with the name of a tag; nil for paths.
  static func name(ofTag text: some StringProtocol) -> String? {
    guard text.utf8.first != UInt8(ascii: "p") else { return nil }
    return "n" + text.dropFirst().prefix { $0 != ":" }
  }
}

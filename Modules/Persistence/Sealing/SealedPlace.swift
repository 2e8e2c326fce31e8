/// Where a sealed entry is in the base of a ``SealedStorage``: `sealed-KIND/KEY/TAG/TAG/…`.
///
/// A key is split behind each slash and each equals sign, and each part is replaced by a keyed hash of the key up to its
/// end. So entries are found by the prefixes that stores and journals ask for, equal parts of different keys look
/// different, and the texts of keys are readable only with the key, inside of what is sealed.
enum SealedPlace {
  /// The prefix of everything that sealed storages put.
  static let root = "sealed-"

  /// The prefix of the identifiers of keys with which something was sealed.
  static let keys = "sealed-key/"

  /// The prefix of what did not open and was replaced.
  static let aside = "sealed-aside/"

  /// The prefix of the keys under which a journal finds its calls that do not open. No call has such a key.
  static let unopened = StorageKey.journal + "=unopened=/"

  /// What an entry is, which stays visible.
  enum Kind: String, CaseIterable {
    case value
    case journal
    case other

    init(of key: String) {
      if key.utf8.starts(with: StorageKey.values.utf8) {
        self = .value
      } else if key.utf8.starts(with: StorageKey.journal.utf8) {
        self = .journal
      } else {
        self = .other
      }
    }

    /// What all keys of the kind begin with.
    var prefix: String {
      switch self {
      case .value: StorageKey.values
      case .journal: StorageKey.journal
      case .other: ""
      }
    }

    /// The prefix of the places of the kind.
    var places: String { "\(SealedPlace.root)\(self.rawValue)/" }
  }

  /// The place of the entry with a key.
  static func place(of key: String, _ member: SealingKeys.Member) throws(StorageError) -> String {
    let kind = Kind(of: key)
    var place = "\(kind.places)\(member.id)/"
    let ends = self.ends(of: key, kind)
    for end in ends { place += try member.tag(of: key[..<end]) + "/" }
    if ends.last ?? key.utf8.index(key.startIndex, offsetBy: kind.prefix.utf8.count) < key.endIndex {
      place += try member.tag(of: key)
    }
    return place
  }

  /// The prefix of the places of all entries whose keys begin with the whole parts of `prefix`; nil if it has none.
  static func prefix(of prefix: String, _ kind: Kind, _ member: SealingKeys.Member) throws(StorageError) -> String? {
    let ends = self.ends(of: prefix, kind)
    if ends.isEmpty { return nil }
    var place = "\(kind.places)\(member.id)/"
    for end in ends { place += try member.tag(of: prefix[..<end]) + "/" }
    return place
  }

  /// The ends of the parts of a key, behind what all keys of its kind begin with.
  private static func ends(of key: String, _ kind: Kind) -> [String.Index] {
    let start = key.utf8.index(key.startIndex, offsetBy: kind.prefix.utf8.count)
    return key.utf8[start...].indices.filter { index in
      key.utf8[index] == UInt8(ascii: "/") || key.utf8[index] == UInt8(ascii: "=")
    }
    .map { key.utf8.index(after: $0) }
  }

  /// The kind and the identifier of the key of a place; nil for other keys of the base.
  static func parts(of place: String) -> (kind: Kind, id: Substring)? {
    guard place.utf8.starts(with: self.root.utf8) else { return nil }
    let parts = place.dropFirst(self.root.count).split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let kind = Kind(rawValue: String(parts[0])) else { return nil }
    return (kind, parts[1])
  }

  /// Whether a place is the one that a key has.
  static func isPlace(_ place: String, of key: String, _ member: SealingKeys.Member) throws(StorageError) -> Bool {
    // The last part is a hash of the whole key.
    let last = place.split(separator: "/", omittingEmptySubsequences: true).last
    if key.utf8.count == Kind(of: key).prefix.utf8.count { return last ?? "" == member.id }
    return try last ?? "" == member.tag(of: key)
  }
}

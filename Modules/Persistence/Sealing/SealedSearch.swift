/// The places in which the entries with a prefix of their keys can be.
struct SealedSearch {
  /// The prefixes of the places, one for each sealing key. Previous keys come first, because batches of this object move entries
  /// from previous keys to the current one.
  let prefixes: [String]
  /// A prefix that all places have.
  let broadPrefix: String

  init(_ prefix: String, _ keys: SealingKeys) throws(StorageError) {
    let kind = SealedPlace.Kind(of: prefix)
    let isBeginning = SealedPlace.Kind.allCases.contains { kind in
      kind.prefix.utf8.count > prefix.utf8.count && kind.prefix.utf8.starts(with: prefix.utf8)
    }
    self.broadPrefix = isBeginning ? SealedPlace.root : kind.places
    var prefixes: [String] = []
    if !isBeginning {
      for member in keys.members.reversed() {
        if let narrow = try SealedPlace.prefix(of: prefix, kind, member) { prefixes.append(narrow) }
      }
    }
    self.prefixes = prefixes.isEmpty ? [self.broadPrefix] : prefixes
  }

  /// The search for everything.
  init() {
    self.prefixes = [SealedPlace.root]
    self.broadPrefix = SealedPlace.root
  }
}

/// Where the entries are whose keys begin with a prefix.
struct SealedSearch {
  /// The prefixes of their places, those of previous keys first: batches move entries to the current one.
  let prefixes: [String]
  /// One prefix of all of them.
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

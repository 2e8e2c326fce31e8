/// The entries that were read from the base of a ``SealedStorage``: opened ones, and ones that no key opens.
struct SealedEntries {
  /// An entry that a key has opened.
  struct Opened {
    let entry: StorageEntry
    let place: String
    /// The position of its key in the keys of the storage; 0 for the current key.
    let rank: Int
  }

  private(set) var opened: [Opened] = []
  private(set) var unopened: [(place: String, refusal: SealedEntry.Refusal)] = []

  init(_ found: [StorageEntry], _ keys: SealingKeys) {
    self.opened.reserveCapacity(found.count)
    for sealed in found {
      guard let (_, id) = SealedPlace.parts(of: sealed.key) else { continue }
      guard let rank = keys.rank(of: id) else {
        self.unopened.append((sealed.key, .key(String(id))))
        continue
      }
      do throws(SealedEntry.Refusal) {
        let entry = try SealedEntry.open(sealed.value, keys.members[rank], at: sealed.key)
        self.opened.append(Opened(entry: entry, place: sealed.key, rank: rank))
      } catch {
        self.unopened.append((sealed.key, error))
      }
    }
  }

  /// Whether at least one entry was sealed with a previous key.
  var areOutdated: Bool { self.opened.contains { $0.rank > 0 } }

  /// The entries with keys that begin with `prefix`, in order of their keys.
  ///
  /// If several entries have one key, the entry sealed with the newest sealing key is returned. A call that does not open is
  /// returned as an entry that cannot be read, so that its journal shows and keeps it.
  func entries(withPrefix prefix: String) -> [StorageEntry] {
    var entries = self.opened.filter { $0.entry.key.utf8.starts(with: prefix.utf8) }
    entries.sort { first, second in
      if first.entry.key.utf8.elementsEqual(second.entry.key.utf8) { return first.rank < second.rank }
      return first.entry.key.utf8.lexicographicallyPrecedes(second.entry.key.utf8)
    }
    var result: [StorageEntry] = []
    result.reserveCapacity(entries.count)
    for opened in entries where result.last.map({ !$0.key.utf8.elementsEqual(opened.entry.key.utf8) }) ?? true {
      result.append(opened.entry)
    }
    let calls = self.unopened.compactMap { Self.key(ofUnopened: $0.place) }.filter { $0.utf8.starts(with: prefix.utf8) }
    if calls.isEmpty { return result }
    result += calls.map { StorageEntry(key: $0, value: [0]) }
    return result.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// The key under which a journal finds a call that does not open; nil for entries of other kinds.
  private static func key(ofUnopened place: String) -> String? {
    let places = SealedPlace.Kind.journal.places
    return place.utf8.starts(with: places.utf8) ? SealedPlace.unopened + place.dropFirst(places.count) : nil
  }

  /// The place of the call that does not open and that a journal finds under a key; nil for other keys.
  static func place(ofUnopened key: String) -> String? {
    guard key.utf8.starts(with: SealedPlace.unopened.utf8) else { return nil }
    return SealedPlace.Kind.journal.places + key.dropFirst(SealedPlace.unopened.count)
  }
}

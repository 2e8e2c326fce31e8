/// Entries that are still to be removed.
///
/// The removal of an ended call may have failed, and a refused call may be stored all the same. After an outage there may be many
/// such entries, so each batch removes a few, in turn.
struct FailedRemovals: Sendable {
  private var removals: [String: EntryRemoval] = [:]
  /// The keys, the one that is tried next first.
  private var order: [String] = []

  /// From this number on, a new call is stored only after a removal was made: if storing it fails, its removal is one more.
  static var maximum: Int { 1_000 }

  var count: Int { self.order.count }
  var isEmpty: Bool { self.order.isEmpty }

  func contains(_ key: String) -> Bool { self.removals[key] != nil }

  mutating func add(_ key: String, _ removal: EntryRemoval) {
    if self.removals.updateValue(removal, forKey: key) == nil { self.order.append(key) }
  }

  /// Takes the removals that are tried next.
  mutating func take(_ limit: Int) -> [(key: String, removal: EntryRemoval)] {
    let keys = self.order.prefix(limit)
    defer { self.order.removeFirst(keys.count) }
    return keys.compactMap { key in self.removals.removeValue(forKey: key).map { (key, $0) } }
  }

  /// Adds removals again that have failed. Only the first of them may have been tried by itself, so it is tried last the next time.
  mutating func putBack(_ failed: [(key: String, removal: EntryRemoval)]) {
    for (key, removal) in failed.dropFirst() { self.add(key, removal) }
    if let (key, removal) = failed.first { self.add(key, removal) }
  }
}

/// Why values are not stored, for explanations. Of many values, the newest reasons are kept.
struct UnstoredValues: Sendable {
  private static let maximumCount = 1_024

  private var reasons: [String: String] = [:]
  private var keys: [String] = []

  /// Why the value with a key is not stored; nil if it is, or if that is not known.
  func reason(for key: String) -> String? { self.reasons[key] }

  mutating func note(_ key: String, _ reason: String) {
    if self.reasons.updateValue(reason, forKey: key) == nil { self.keys.append(key) }
    guard self.keys.count > 2 * Self.maximumCount else { return }
    // Some of them were stored since, and are named again behind that.
    let known = self.keys.reversed().reduce(into: (seen: Set<String>(), keys: [String]())) { known, key in
      if self.reasons[key] != nil, known.seen.insert(key).inserted { known.keys.append(key) }
    }
    for key in known.keys.dropFirst(Self.maximumCount) { self.reasons[key] = nil }
    self.keys = known.keys.prefix(Self.maximumCount).reversed()
  }

  mutating func clear(_ key: String) {
    if !self.reasons.isEmpty { self.reasons[key] = nil }
  }
}

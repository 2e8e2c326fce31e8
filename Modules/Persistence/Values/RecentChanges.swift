/// The changes of stored values since the oldest read that is under way began.
///
/// A storage may answer a read with what it had before a change that was made meanwhile.
struct RecentChanges: Sendable {
  private var readCount = 0
  private var numbers: [String: UInt64] = [:]
  private var removals: [String: UInt64] = [:]

  mutating func beginRead() {
    self.readCount += 1
  }

  mutating func endRead() {
    self.readCount -= 1
    if self.readCount == 0 { self = Self() }
  }

  mutating func note(_ key: String, number: UInt64) {
    if self.readCount > 0 { self.numbers[key] = number }
  }

  mutating func note(removalOf prefix: String, number: UInt64) {
    guard self.readCount > 0 else { return }
    self.removals = self.removals.filter { !$0.key.hasPrefix(prefix) }
    self.removals[prefix] = number
  }

  /// Whether the value with a key was changed or removed after the change with a number.
  func contains(_ key: String, after number: UInt64) -> Bool {
    if let changed = self.numbers[key], changed > number { return true }
    return self.removals.contains { $0.value > number && key.hasPrefix($0.key) }
  }
}

/// Values by key, in the order in which they were used. Each operation takes constant time.
struct RecentEntries<Value: Sendable>: Sendable {
  private struct Slot: Sendable {
    let key: String
    let value: Value
    var lastUse: Duration
    /// The index of the slot that was used before this one; nil for the one that was used least recently.
    var older: Int?
    var newer: Int?
  }

  /// The number of entries, from the one that was used least recently on, among which those that are given up are sought.
  static var reach: Int { 16 }

  // Indices in place of references, whose chain would be released one after the other, on the stack.
  private var slots: [Slot?] = []
  private var indices: [String: Int] = [:]
  private var free: [Int] = []
  private var oldest: Int?
  private var newest: Int?

  var count: Int { self.indices.count }

  /// The values by key.
  var all: [String: Value] { self.indices.compactMapValues { self.slots[$0]?.value } }

  /// The value of a key; nil without one.
  func value(for key: String) -> Value? { self.indices[key].flatMap { self.slots[$0]?.value } }

  /// The value of a key, which is used now; nil without one.
  mutating func use(_ key: String, at now: Duration) -> Value? {
    guard let index = self.indices[key] else { return nil }
    self.slots[index]?.lastUse = now
    if index != self.newest {
      self.unlink(index)
      self.linkAsNewest(index)
    }
    return self.slots[index]?.value
  }

  /// Adds a value for a key that has none.
  mutating func add(_ value: Value, for key: String, at now: Duration) {
    let index = self.free.popLast() ?? self.slots.endIndex
    if index == self.slots.endIndex { self.slots.append(nil) }
    self.slots[index] = Slot(key: key, value: value, lastUse: now)
    self.indices[key] = index
    self.linkAsNewest(index)
  }

  /// Removes the value of a key; nil without one.
  mutating func remove(_ key: String) -> Value? { self.indices[key].flatMap { self.remove(at: $0) } }

  /// Removes values so that there is a place for another one.
  ///
  /// - Parameters:
  ///   - maximum: The highest number of values.
  ///   - start: Values that were used at this time or before, and are spare, are removed as well.
  ///   - isSpare: Whether a value is removed before others.
  /// - Returns: The removed values.
  mutating func makePlace(
    in maximum: Int,
    usedUntil start: Duration,
    where isSpare: (Value) -> Bool
  ) -> [Value] {
    guard self.count >= maximum else { return [] }
    var removed = self.leastRecent(where: isSpare).filter { self.slots[$0].map { $0.lastUse <= start } ?? false }
      .compactMap { self.remove(at: $0) }
    while self.count >= maximum, let index = self.leastRecent(where: isSpare).first ?? self.oldest {
      if let value = self.remove(at: index) { removed.append(value) }
    }
    return removed
  }

  /// The spare ones of those that were used least recently, the oldest first.
  private func leastRecent(where isSpare: (Value) -> Bool) -> [Int] {
    var (found, next, seen) = ([Int](), self.oldest, 0)
    while let index = next, let slot = self.slots[index], seen < Self.reach {
      if isSpare(slot.value) { found.append(index) }
      next = slot.newer
      seen += 1
    }
    return found
  }

  private mutating func remove(at index: Int) -> Value? {
    self.unlink(index)
    guard let slot = self.slots[index] else { return nil }
    self.slots[index] = nil
    self.indices[slot.key] = nil
    self.free.append(index)
    return slot.value
  }

  private mutating func unlink(_ index: Int) {
    guard let slot = self.slots[index] else { return }
    if let older = slot.older { self.slots[older]?.newer = slot.newer } else { self.oldest = slot.newer }
    if let newer = slot.newer { self.slots[newer]?.older = slot.older } else { self.newest = slot.older }
  }

  private mutating func linkAsNewest(_ index: Int) {
    self.slots[index]?.older = self.newest
    self.slots[index]?.newer = nil
    if let newest { self.slots[newest]?.newer = index } else { self.oldest = index }
    self.newest = index
  }
}

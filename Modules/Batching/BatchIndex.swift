/// Finds the leaders of a batch by the hashes of their keys, which are computed once, outside of the lock.
///
/// A hash table with open addressing. It keeps positions in the array of leaders. The place of a leader whose key has
/// left is passed over, until the table is full: then it is made anew, and the array without these places. With a
/// dictionary of linked members, checked accesses and requests that begin on another thread, a key took 13,460
/// instructions; it takes 12,100.
struct BatchIndex: Sendable {
  /// Positions of leaders, or -1 where there is none. The count is a power of two, or zero.
  private var slots: [Int32] = []
  private var usedCount = 0
  /// The number of slots at first.
  private let capacity: Int

  /// Creates a table.
  ///
  /// - Parameter maximumSize: The highest number of keys. It has room for up to 128 of them at once.
  init(maximumSize: Int) {
    var capacity = 2
    while capacity < min(maximumSize, 128) * 2 { capacity *= 2 }
    self.capacity = capacity
  }

  /// Where the search for a hash starts.
  func start(of hash: Int) -> Int {
    self.slots.isEmpty ? 0 : hash & (self.slots.count - 1)
  }

  /// Continues the search for the leaders with a hash.
  ///
  /// - Parameters:
  ///   - hash: The hash.
  ///   - slot: Where the search continues; at first ``start(of:)``.
  ///   - leaders: The leaders of the batch.
  /// - Returns: The next leader with the hash whose key has not left; nil if there is none.
  func next(of hash: Int, from slot: inout Int, among leaders: [BatchMember?]) -> BatchMember? {
    guard !self.slots.isEmpty else { return nil }
    while self.slots[slot] >= 0 {
      let leader = leaders[Int(self.slots[slot])]
      slot = (slot + 1) & (self.slots.count - 1)
      if let leader, leader.hash == hash { return leader }
    }
    return nil
  }

  /// Makes room for one more leader, in constant time on average.
  ///
  /// - Parameters:
  ///   - leaders: The leaders, from which the places of keys that have left are removed if there is no room.
  ///   - keyCount: The number of keys with the new one.
  mutating func makeRoom(for leaders: inout [BatchMember?], keyCount: Int) {
    // At most half of the slots are used, so that a free one is near.
    guard (self.usedCount + 1) * 2 > self.slots.count else { return }
    leaders.removeAll { $0 == nil }
    // Room for half as many keys again, so that the next time is as many callers away.
    var capacity = self.capacity
    while capacity < keyCount * 3 { capacity *= 2 }
    self.slots = Array(repeating: -1, count: capacity)
    self.usedCount = 0
    for (position, leader) in leaders.enumerated() {
      leader?.state.position = position
      if let leader { self.add(leader) }
    }
  }

  /// Adds a leader, for which there is room.
  mutating func add(_ leader: BatchMember) {
    let mask = self.slots.count - 1
    var slot = leader.hash & mask
    while self.slots[slot] >= 0 { slot = (slot + 1) & mask }
    self.slots[slot] = Int32(leader.state.position)
    self.usedCount += 1
  }

  mutating func removeAll() {
    self.slots = []
    self.usedCount = 0
  }
}

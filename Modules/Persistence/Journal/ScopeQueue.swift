/// The calls of a scope, in order.
///
/// The first call may come later in the order than other calls: a dead letter that is tried again is inserted behind a
/// call that is being made.
struct ScopeQueue: Sendable {
  typealias Position = JournalState.Position

  private var positions: [Position] = []
  /// The index of the first call. Calls nearly always leave in order, so the array need not be moved.
  private var start = 0

  /// The number of callers that wait for their turn, or are about to.
  var callerCount = 0
  /// The calls without a number in the storage, in order.
  private var unnumbered: [Position] = []
  /// The number of calls to make again, without the first.
  var dueCount = 0
  /// Whether the first call cannot be made now.
  var isBlocked = false

  var first: Position? { self.start < self.positions.count ? self.positions[self.start] : nil }
  var all: ArraySlice<Position> { self.positions[self.start...] }
  var behindFirst: ArraySlice<Position> { self.all.dropFirst() }
  var isEmpty: Bool { self.start == self.positions.count }

  /// The number of calls in front of a call.
  func count(before position: Position) -> Int {
    self.first == position ? 0 : self.index(of: position, from: self.start) - self.start
  }

  /// The last call in front of a call that has no number in the storage; nil if all of them have.
  func unnumbered(before position: Position) -> Position? {
    let index = Self.index(of: position, in: self.unnumbered, from: 0)
    return index > 0 ? self.unnumbered[index - 1] : nil
  }

  /// Notes whether a call has a number in the storage.
  mutating func setUnnumbered(_ isUnnumbered: Bool, _ position: Position) {
    let index = Self.index(of: position, in: self.unnumbered, from: 0)
    let isKnown = index < self.unnumbered.count && self.unnumbered[index] == position
    if isUnnumbered, !isKnown { self.unnumbered.insert(position, at: index) }
    if !isUnnumbered, isKnown { self.unnumbered.remove(at: index) }
  }

  mutating func insert(_ position: Position, behindFirst: Bool) {
    if !behindFirst { self.sortFirst() }
    let lower = self.start + (behindFirst ? 1 : 0)
    self.positions.insert(position, at: self.index(of: position, from: lower))
  }

  /// Puts the first call where it belongs, if others were inserted behind it while it was being made.
  private mutating func sortFirst() {
    guard let first = self.first, let second = self.behindFirst.first, second < first else { return }
    self.positions.remove(at: self.start)
    self.positions.insert(first, at: self.index(of: first, from: self.start))
  }

  mutating func remove(_ position: Position) {
    if self.first == position {
      self.start += 1
      if self.start > 32, self.start > self.positions.count / 2 {
        self.positions.removeFirst(self.start)
        self.start = 0
      }
      return
    }
    let index = self.index(of: position, from: min(self.start + 1, self.positions.count))
    if index < self.positions.count, self.positions[index] == position { self.positions.remove(at: index) }
  }

  /// The index of the first position, from `lower` on, that is not smaller than the given position.
  private func index(of position: Position, from lower: Int) -> Int {
    Self.index(of: position, in: self.positions, from: lower)
  }

  private static func index(of position: Position, in positions: [Position], from lower: Int) -> Int {
    // The position is nearly always behind the last one.
    if let last = positions.last, lower < positions.count, last < position { return positions.count }
    var (low, high) = (lower, positions.count)
    while low < high {
      let middle = low + (high - low) / 2
      if positions[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

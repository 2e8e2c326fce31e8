/// The operations of a scheduler, counted between the barriers, each of which waits for all segments before its own.
///
/// A barrier belongs to the segment that it begins, and an operation that another one schedules belongs to the other's segment.
///
/// - Complexity: Each change takes amortized constant time.
struct BarrierSegments {
  /// The number of the first segment that has operations, or of the current one.
  private(set) var first = 0
  /// The number of the segment that operations are added to: as many barriers have been scheduled.
  private(set) var current = 0
  private var currentCount = 0
  /// The numbers of operations of the segments before the current one.
  private var counts: [Int: Int] = [:]
  /// The barriers that wait, by the segments that they begin.
  private var barriers: [Int: ScheduledNode] = [:]

  /// Begins a segment. Returns whether its barrier has to wait.
  mutating func begin(at barrier: ScheduledNode) -> Bool {
    self.counts[self.current] = self.currentCount
    self.current += 1
    self.currentCount = 0
    barrier.state.segment = self.current
    _ = self.advance()
    guard self.first < self.current else { return false }
    self.barriers[self.current] = barrier
    return true
  }

  /// Counts an operation in its segment.
  mutating func add(_ node: ScheduledNode) {
    if node.state.segment == self.current {
      self.currentCount += 1
    } else {
      self.counts[node.state.segment, default: 0] += 1
    }
  }

  /// Counts an operation as ended. Returns the barriers that wait for nothing before them anymore.
  mutating func remove(_ node: ScheduledNode) -> [ScheduledNode] {
    let segment = node.state.segment
    if segment == self.current {
      self.currentCount -= 1
    } else {
      self.counts[segment, default: 0] -= 1
    }
    if node.isBarrier { self.barriers[segment] = nil }
    return segment == self.first && segment < self.current ? self.advance() : []
  }

  private mutating func advance() -> [ScheduledNode] {
    var released: [ScheduledNode] = []
    while self.first < self.current, self.counts[self.first] == 0 {
      self.counts[self.first] = nil
      self.first += 1
      if let barrier = self.barriers.removeValue(forKey: self.first) { released.append(barrier) }
    }
    return released
  }
}

/// The scopes that wait because too many calls are made again at once, in order.
struct LaneLine: Sendable {
  private var lanes: [String] = []
  private var start = 0
  private var members: Set<String> = []

  var isEmpty: Bool { self.members.isEmpty }

  /// Adds a scope at the end, unless it is there.
  mutating func append(_ lane: String) {
    if self.members.insert(lane).inserted { self.lanes.append(lane) }
  }

  mutating func popFirst() -> String? {
    guard self.start < self.lanes.count else { return nil }
    let lane = self.lanes[self.start]
    self.members.remove(lane)
    self.start += 1
    if self.start > 32, self.start > self.lanes.count / 2 {
      self.lanes.removeFirst(self.start)
      self.start = 0
    }
    return lane
  }
}

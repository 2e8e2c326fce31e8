internal import OperationCore

/// The tags that were invalidated while runs are under way, whose values and tags nobody knows yet; bounded.
///
/// The store of a run with such a value is invalidated when the value is there. Paths need no such list: the path of a
/// run is known.
struct FleetTagLog: Sendable {
  private static let maximumTags = 10_000

  /// Counts the invalidations.
  private(set) var number: UInt64 = 0
  /// The number of the last invalidation of each tag.
  private var numbers: [FleetSubject: UInt64] = [:]
  /// Up to this number, tags were forgotten: each counts as invalidated.
  private var forgotten: UInt64 = 0
  private var runCount = 0

  mutating func beginRun() -> UInt64 {
    self.runCount += 1
    return self.number
  }

  mutating func endRun() {
    self.runCount -= 1
    if self.runCount == 0 { self.numbers = [:] }
  }

  mutating func note(_ subjects: [FleetSubject]) {
    if subjects.isEmpty { return }
    self.number += 1
    if self.runCount == 0 { return }
    for subject in subjects { self.numbers[subject] = self.number }
    if self.numbers.count > Self.maximumTags {
      self.numbers = [:]
      self.forgotten = self.number
    }
  }

  /// Whether one of some tags was invalidated after a run has begun.
  func isHit(_ tags: [FleetSubject], since number: UInt64) -> Bool {
    if tags.isEmpty || number == self.number { return false }
    if number < self.forgotten { return true }
    return tags.contains { self.numbers[$0].map { $0 > number } ?? false }
  }
}

/// Notices the tags that are invalidated during a run.
final class FleetTagWatch: Sendable {
  private let node: FleetNode
  private let start: UInt64
  private let hasEnded = AtomicFlag(false)

  init(of node: FleetNode) {
    self.node = node
    self.start = node.state.withLock { $0.tagLog.beginRun() }
  }

  /// Whether one of the tags of the run's value was invalidated since the run has begun.
  func isHit(_ tags: [FleetSubject]) -> Bool {
    self.node.state.withLock { $0.tagLog.isHit(tags, since: self.start) }
  }

  /// Ends the watch. A run without a store ends it when it is released.
  func end() {
    if !self.hasEnded.set(true) { self.node.state.withLock { $0.tagLog.endRun() } }
  }

  deinit {
    self.end()
  }
}

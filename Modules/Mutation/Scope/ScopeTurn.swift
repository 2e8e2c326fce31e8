internal import Synchronization

/// The turn of a call in its lane.
final class ScopeTurn: Sendable {
  @TaskLocal private static var current: [ScopeTurn] = []

  private let lane: ScopeLane
  private let key: ScopeLanes.Key
  private let isOver = Atomic(false)

  init(lane: ScopeLane, key: ScopeLanes.Key) {
    self.lane = lane
    self.key = key
  }

  /// Whether the current task is part of the call that has the lane's turn.
  static func isInside(_ lane: ScopeLane) -> Bool {
    self.current.contains { $0.lane === lane && !$0.isOver.load(ordering: .acquiring) }
  }

  /// Runs `body` as part of the turn.
  func perform<R>(isolation: isolated (any Actor)?, _ body: () async -> R) async -> R {
    let turns = Self.current.filter { !$0.isOver.load(ordering: .acquiring) }
    return await Self.$current.withValue(turns + [self], operation: body)
  }

  /// Ends the turn, and passes it to the next call.
  func end() {
    self.isOver.store(true, ordering: .releasing)
    if self.lane.leave() { ScopeLanes.shared.remove(self.lane, self.key) }
  }
}

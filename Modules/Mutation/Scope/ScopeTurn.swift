internal import OperationCore
internal import Synchronization

/// The turn of a call in its queue.
final class ScopeTurn: Sendable {
  @TaskLocal private static var current: [ScopeTurn] = []

  private let queue: ScopeQueue
  private let key: ScopeQueues.Key
  private let isOver = Atomic(false)

  init(queue: ScopeQueue, key: ScopeQueues.Key) {
    self.queue = queue
    self.key = key
  }

  /// Whether the current task is part of the call that has the queue's turn.
  static func isInside(_ queue: ScopeQueue) -> Bool {
    self.current.contains { $0.queue === queue && !$0.isOver.load(ordering: .acquiring) }
  }

  /// Whether the current task is part of the call that has the turn of a scope.
  static func isInside(_ scope: OperationPath, of owner: any AnyObject) -> Bool {
    self.current.contains { turn in
      turn.queue.owner === owner && turn.queue.scope == scope && !turn.isOver.load(ordering: .acquiring)
    }
  }

  /// Runs `body` as part of the turn.
  func perform<R>(isolation: isolated (any Actor)?, _ body: () async -> R) async -> R {
    let turns = Self.current.filter { !$0.isOver.load(ordering: .acquiring) }
    return await Self.$current.withValue(turns + [self], operation: body)
  }

  /// Ends the turn, and passes it to the next call.
  func end() {
    self.isOver.store(true, ordering: .releasing)
    if self.queue.leave() { ScopeQueues.shared.remove(self.queue, self.key) }
  }
}

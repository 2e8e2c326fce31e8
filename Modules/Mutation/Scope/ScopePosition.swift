internal import OperationCore
internal import Synchronization

/// The position of a call in the queue of its scope, taken before the call comes to the modifier of the scope.
final class ScopePosition: CallPosition {
  private enum State {
    case taken(ScopeQueue.Admission)
    /// The call uses the position, or has given it up.
    case left
  }

  let scope: OperationPath
  let run: OperationTaskIdentifier?
  let queue: ScopeQueue
  private let key: ScopeQueues.Key
  private let state: Mutex<State>

  init(
    in queue: ScopeQueue,
    _ key: ScopeQueues.Key,
    _ admission: ScopeQueue.Admission,
    of run: OperationTaskIdentifier?
  ) {
    self.scope = queue.scope
    self.run = run
    self.queue = queue
    self.key = key
    self.state = Mutex(.taken(admission))
  }

  /// Returns what the queue has answered, for the call that uses the position from now on; nil if there is no position any
  /// more.
  func use() -> ScopeQueue.Admission? {
    self.state.withLock { state in
      guard case .taken(let admission) = state else { return nil }
      state = .left
      return admission
    }
  }

  func giveUp() {
    switch self.use() {
    case .turn: self.endTurn()
    case .ticket(let ticket): if self.queue.giveUp(ticket) { self.endTurn() }
    case .closed, nil: break
    }
  }

  private func endTurn() {
    ScopeTurn(queue: self.queue, key: self.key).end()
  }
}

extension OperationContext {
  /// The position in a scope that the run with this context has taken; nil if it has none.
  func scopePosition(in scope: OperationPath) -> ScopePosition? {
    guard let position = self.callPosition as? ScopePosition, position.run == self.operationRunningTaskIdentifier,
      position.scope == scope
    else { return nil }
    return position
  }
}

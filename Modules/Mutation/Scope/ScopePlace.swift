internal import OperationCore
internal import Synchronization

/// The place of a call in the lane of its scope, taken before the call comes to the modifier of the scope.
final class ScopePlace: CallPlace {
  private enum State {
    case taken(ScopeLane.Admission)
    /// The call uses the place, or has given it up.
    case left
  }

  let scope: OperationPath
  let run: OperationTaskIdentifier?
  let lane: ScopeLane
  private let key: ScopeLanes.Key
  private let state: Mutex<State>

  init(
    in lane: ScopeLane,
    _ key: ScopeLanes.Key,
    _ admission: ScopeLane.Admission,
    of run: OperationTaskIdentifier?
  ) {
    self.scope = lane.scope
    self.run = run
    self.lane = lane
    self.key = key
    self.state = Mutex(.taken(admission))
  }

  var isBehindCurrentTask: Bool { ScopeTurn.isInside(self.lane) }

  /// Returns what the lane has answered, for the call that uses the place from now on; nil if there is no place any
  /// more.
  func use() -> ScopeLane.Admission? {
    self.state.withLock { state in
      guard case .taken(let admission) = state else { return nil }
      state = .left
      return admission
    }
  }

  func giveUp() {
    switch self.use() {
    case .turn: self.endTurn()
    case .ticket(let ticket): if self.lane.giveUp(ticket) { self.endTurn() }
    case .closed, nil: break
    }
  }

  private func endTurn() {
    ScopeTurn(lane: self.lane, key: self.key).end()
  }
}

extension OperationContext {
  /// The place in a scope that the run with this context has taken; nil if it has none.
  func scopePlace(in scope: OperationPath) -> ScopePlace? {
    guard let place = self.callPlace as? ScopePlace, place.run == self.operationRunningTaskIdentifier,
      place.scope == scope
    else { return nil }
    return place
  }
}

internal import OperationCore

/// Shows a store the values that other nodes push.
final class FleetFollower: Sendable {
  let record: FleetRecord
  /// Reruns the operation for the subscribers, which finds the value in the fleet.
  let rerun: @Sendable () -> Void

  init(record: FleetRecord, rerun: @escaping @Sendable () -> Void) {
    self.record = record
    self.rerun = rerun
  }
}

/// Lets a store with pushed values receive the values that other nodes store.
struct FleetStoreController<State: OperationState & Sendable>: OperationController {
  let record: FleetRecord

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    guard self.record.settings.isPushed, !self.record.isDerived, let node = controls.context.operationClient?.fleet,
      let key = FleetNames.key(controls.path, name: self.record.settings.name, version: self.record.settings.version)
    else { return .empty }
    let follower = FleetFollower(record: self.record) { controls.rerunForSubscribers() }
    return node.follow(key, with: follower)
  }
}

extension FleetNode {
  /// Adds the follower of a key, in place of a former one, until the subscription is cancelled.
  func follow(_ key: FleetKey, with follower: FleetFollower) -> OperationSubscription {
    let former = self.state.withLock { $0.followers.updateValue(follower, forKey: key.text) }
    _ = consume former  // Released after unlocking.
    return OperationSubscription { [weak self] in
      let removed = self?.state.withLock { state -> FleetFollower? in
        guard state.followers[key.text] === follower else { return nil }
        return state.followers.removeValue(forKey: key.text)
      }
      _ = consume removed  // Released after unlocking.
    }
  }

  /// Shows a new value to the store with a key, unless it has that value.
  func push(_ key: String, revision: Int64) {
    let follower = self.state.withLock { $0.followers[key] }
    if let follower, follower.record.revision < revision { follower.rerun() }
  }
}

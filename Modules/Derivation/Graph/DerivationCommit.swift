internal import OperationCore

/// What the last run of a derived query has read: it explains the value or the error of the store.
final class DerivationCommit: Sendable {
  /// By store. A store that no longer exists may have the identifier of a new one: then it is not current.
  let readings: [ObjectIdentifier: any Reading]
  let hasFailed: Bool
  /// Whether a later run has failed without a result of the body, as one that a modifier around the query rejects.
  let isRejected: Bool
  /// The number of sources between the query and the furthest one that is not derived.
  let height: Int

  init(readings: [ObjectIdentifier: any Reading], hasFailed: Bool, isRejected: Bool = false) {
    self.readings = readings
    self.hasFailed = hasFailed
    self.isRejected = isRejected
    self.height = 1 + (readings.values.lazy.compactMap { $0.source?.derivationNode?.height }.max() ?? 0)
  }

  /// Whether the sources show what was read. Calls `==` of their values.
  var isCurrent: Bool {
    self.readings.values.allSatisfy { $0.source?.isInClient == true && $0.isCurrent() }
  }
}

/// Replaces the commit of a node in one step with the outcome of a run.
final class CommitStep: OutcomeObserver {
  private let node: DerivationNode
  private let commit: DerivationCommit
  /// The commit before, released with this object and not under the lock of the store.
  private let former = Locked<DerivationCommit?>(nil)

  init(of node: DerivationNode, _ commit: DerivationCommit) {
    self.node = node
    self.commit = commit
  }

  func outcomeIsInState() {
    let former = self.node.replaceCommit(with: self.commit)
    self.former.withLock { $0 = former }
  }
}

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
  /// What is known of a value by the readings that it is made of.
  private let stamp: Locked<ValueStamp>

  init(readings: [ObjectIdentifier: any Reading], hasFailed: Bool, height: Int, isRejected: Bool = false) {
    self.readings = readings
    self.stamp = Locked(Self.stamp(of: readings))
    self.hasFailed = hasFailed
    self.isRejected = isRejected
    self.height = height
  }

  /// Whether the sources show what was read. Calls `==` of their values.
  ///
  /// - Parameter changed: The stores that are known to have changed, which are looked at first.
  /// - Returns: Whether they do.
  func isCurrent(changed: Set<ObjectIdentifier>) -> Bool {
    changed.allSatisfy { self.readings[$0].map(Self.isCurrent) ?? true }
      && self.readings.values.allSatisfy(Self.isCurrent)
  }

  private static func stamp(of readings: [ObjectIdentifier: any Reading]) -> ValueStamp {
    readings.values.reduce(ValueStamp(.final)) { $0.combined(with: $1.valueStamp) }
  }

  /// Looks once more at what is known of the readings after a source has changed without another value: an update of it
  /// may have been confirmed.
  ///
  /// - Parameter reading: The reading of that source.
  /// - Returns: What was known by the readings, and what is now; nil if that is the same.
  func takeNewStamp(after reading: any Reading) -> (former: ValueStamp, new: ValueStamp)? {
    let former = self.stamp.withLock { $0 }
    let plain = ValueStamp(.final)
    // Nearly always, and without a look at all readings.
    if former == plain, reading.valueStamp == plain { return nil }
    let new = Self.stamp(of: self.readings)
    return self.stamp.withLock { stamp in
      defer { stamp = new }
      return stamp == new ? nil : (stamp, new)
    }
  }

  private static func isCurrent(_ reading: any Reading) -> Bool {
    reading.source?.isInClient == true && reading.isCurrent()
  }
}

/// Replaces the commit of a node in one step with the outcome of a run, which has it as an entry.
struct CommitStep: Sendable {
  private let node: DerivationNode
  private let commit: DerivationCommit
  private let consistency: Consistency
  private let revision: DerivationRevision

  init(
    of node: DerivationNode,
    _ commit: DerivationCommit,
    _ consistency: Consistency,
    in revision: DerivationRevision
  ) {
    self.node = node
    self.commit = commit
    self.consistency = consistency
    self.revision = revision
  }

  /// Replaces the commit. Called with the lock of the store held.
  ///
  /// - Returns: The commit before, to be released after the lock.
  func perform() -> DerivationCommit? {
    self.node.replaceCommit(with: self.commit, self.consistency, in: self.revision)
  }
}

extension OperationContext {
  /// The step that the run with this outcome has to perform.
  var commitStep: CommitStep? { self[CommitStepKey.self] }

  /// Lets the store replace the commit when the outcome of this run is in the state.
  func addToOutcome(_ step: CommitStep) { self.addToOutcome(step, for: CommitStepKey.self) }

  private enum CommitStepKey: Key {
    static let defaultValue: CommitStep? = nil
  }
}

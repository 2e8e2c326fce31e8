internal import OperationCore

/// What an operation of a scheduler does, or waits for, at one time: see ``OperationScheduler/operations``.
public struct ScheduledOperationSnapshot: Sendable, CustomStringConvertible {
  /// What an operation does or waits for.
  @nonexhaustive(warn)
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// It waits for operations that it depends on, for vital ones and barriers before it, or as a barrier for others.
    case waitingForDependencies = "waits for dependencies"
    /// It waits until the group that it is part of begins.
    case waitingForGroup = "waits for its group"
    /// It waits until its scheduler or group is resumed.
    case suspended = "is suspended"
    /// It waits for a place among those that may run at a time, perhaps again after another wait.
    case waitingForPlace = "waits for a place"
    /// Its conditions are evaluated, or do their work.
    case evaluatingConditions = "evaluates conditions"
    /// It waits for categories.
    case waitingForCategories = "waits for categories"
    /// It waits for an earlier run of the same unique work.
    case waitingForUniqueWork = "waits for unique work"
    /// Its body awaits the values or the ends of other operations.
    case waitingForOperations = "waits for operations"
    /// It waits until a scheduler is empty.
    case waitingUntilEmpty = "waits until empty"
    /// It is paused, as by `.waits(until:)`.
    case paused = "is paused"
    /// Its body runs.
    case running = "runs"
    /// It has ended, and its observers are being notified.
    case ending = "ends"
  }

  /// The operation.
  public let operation: AnyScheduledOperation

  /// The name of the operation.
  public let name: String

  /// What the operation does or waits for.
  public let phase: Phase

  /// The names of the operations, categories, schedulers or specifications that the operation waits for.
  ///
  /// Of many vital operations and of many operations before a barrier, the first 16 are named.
  public let waitsFor: [String]

  /// The names of the operations that hold the categories that the operation waits for.
  public let holders: [String]

  /// The priority of the operation.
  public let priority: TaskPriority

  /// Whether the operation is vital.
  public let isVital: Bool

  /// Whether the operation is a barrier.
  public let isBarrier: Bool

  /// Whether the operation was cancelled.
  public let isCancelled: Bool

  /// The state in words: `WriteIndex waits for dependencies: FetchList`.
  public var description: String {
    var text = "\(self.name) \(self.phase.rawValue)"
    if !self.waitsFor.isEmpty { text += ": \(self.waitsFor.joined(separator: ", "))" }
    if !self.holders.isEmpty { text += ", held by \(self.holders.joined(separator: ", "))" }
    return self.isCancelled ? "\(text) (cancelled)" : text
  }
}

/// What an operation that has begun waits for. It has lent its place meanwhile.
struct NodeWait: Sendable {
  let phase: ScheduledOperationSnapshot.Phase
  /// What it waits for, for messages.
  let names: [String]
  /// The operations that it waits for.
  let nodes: [ScheduledNode]
  /// The lanes that it waits for.
  let slots: [Int]

  init(
    _ phase: ScheduledOperationSnapshot.Phase,
    _ names: [String],
    nodes: [ScheduledNode] = [],
    slots: [Int] = []
  ) {
    self.phase = phase
    self.names = names
    self.nodes = nodes
    self.slots = slots
  }
}

extension SchedulerCore {
  var snapshots: [ScheduledOperationSnapshot] {
    let parts = SchedulingLock.withLock { self.machine.members.all.map(\.snapshotParts) }
    return parts.map { parts in
      let scopes = parts.slots.isEmpty ? [] : ExclusionLock.holders(of: parts.slots)
      return ScheduledOperationSnapshot(
        operation: AnyScheduledOperation(node: parts.node),
        name: parts.node.name,
        phase: parts.phase,
        waitsFor: parts.names,
        holders: scopes.map { $0.nodes.first?.name ?? OperationName.of($0.operationType.unmodifiedType) },
        priority: TaskPriority(rawValue: parts.priority),
        isVital: parts.node.isVital,
        isBarrier: parts.node.isBarrier,
        isCancelled: parts.isCancelled
      )
    }
  }
}

/// The parts of a snapshot that the scheduling lock guards.
private struct SnapshotParts: Sendable {
  let node: ScheduledNode
  let phase: ScheduledOperationSnapshot.Phase
  let names: [String]
  var slots: [Int] = []
  let priority: UInt8
  let isCancelled: Bool
}

extension ScheduledNode {
  /// Called under the scheduling lock, as all that follows.
  fileprivate var snapshotParts: SnapshotParts {
    let (phase, names) = self.snapshotPhase
    let slots = self.state.waits.last?.phase == phase ? self.state.waits.last?.slots ?? [] : []
    return SnapshotParts(
      node: self,
      phase: phase,
      names: names,
      slots: slots,
      priority: self.state.priority,
      isCancelled: self.state.isCancelled
    )
  }

  /// What it does, and the names of what it waits for.
  var snapshotPhase: (phase: ScheduledOperationSnapshot.Phase, names: [String]) {
    let machine = self.core.machine
    switch self.state.phase {
    case .new, .waiting: return (.waitingForDependencies, self.namesBefore)
    case .ready, .admitted:
      if machine.isWaitingForGroup { return (.waitingForGroup, [machine.groupNode?.name ?? self.core.name]) }
      return machine.isSuspended ? (.suspended, []) : (.waitingForPlace, [])
    case .preparing, .running:
      if let wait = self.state.waits.last {
        return (wait.phase, self.state.waits.filter { $0.phase == wait.phase }.flatMap(\.names))
      }
      if self.isReturning { return (.waitingForPlace, []) }
      return (self.state.phase == .running ? .running : .evaluatingConditions, [])
    case .ending, .ended: return (.ending, [])
    }
  }

  /// Whether it waits for a place again.
  private var isReturning: Bool { self.core.machine.returning.element(at: self.state.returningTicket) != nil }

  /// The names of what it waits for before it is ready.
  private var namesBefore: [String] {
    let limit = 16
    var names = self.state.prerequisites.filter { !$0.node.isEnded }.map(\.name)
    if let previous = self.state.unique?.previous?.node { names.append(previous.name) }
    if self.state.isHeld {
      names += self.core.machine.vitals.prefix(limit, before: self.state.rank).map(\.name)
    }
    if self.isBarrier {
      names += self.core.machine.members.prefix(limit, before: self.state.memberTicket).map(\.name)
    }
    var known: Set<String> = []
    return names.filter { known.insert($0).inserted }
  }
}

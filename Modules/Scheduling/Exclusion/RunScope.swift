internal import OperationCore
internal import Synchronization

/// Work that other runs belong to: a run that holds categories, or the run of a scheduled operation.
///
/// A run that begins inside of another one belongs to it, and so do the operations whose values the other one awaits.
/// The other one cannot end before them, so they may use what it holds.
@usableFromInline
final class RunScope: Sendable {
  // Declared without the macro, because inlined code uses it.
  @usableFromInline static let local = TaskLocal<RunScope?>(wrappedValue: nil)

  /// The scope that the current task works for.
  static var current: RunScope? { self.local.get() }

  /// The scope that this one is inside of.
  let parent: RunScope?
  /// The operation, for messages.
  let operationType: any OperationRequest.Type
  /// The scheduled operation whose run this is; nil for a run that holds categories.
  let node: ScheduledNode?
  /// The lane of unique work that the run belongs to.
  let uniqueSlot: Int?
  /// The name of the operation, where it is known.
  let explicitName: String?
  /// Whether the scope around this one cannot end before it. False in a task that the run around it has started and
  /// does not wait for.
  let isPartOfParent: Bool
  /// Identifies the task that does the work. Written before the tasks of the work, which read it, begin.
  private let task: Atomic<UInt>
  /// What the run, and those inside of it, wait for.
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var waits = TicketQueue<ScopeWait>()

  struct State {
    /// The scopes that wait for this one.
    var waitingScopes: [RunScope]
    /// Whether the scope holds categories.
    var isHolding = false
    /// The waiters that are inside of the scope.
    var waitersInside = TicketQueue<ExclusionWaiter>()
  }

  // Unsafe because the compiler does not see that the lock of the exclusion machine guards it. That makes the accesses
  // exclusive, too: checked, they take 160 of the 3,950 instructions of a run whose category is free.
  @exclusivity(unchecked) nonisolated(unsafe) var state: State

  init(
    parent: RunScope?,
    operationType: any OperationRequest.Type,
    node: ScheduledNode? = nil,
    uniqueSlot: Int? = nil,
    name: String? = nil,
    waitingScopes: [RunScope] = []
  ) {
    // A group waits for its operations, which have tasks of their own.
    self.isPartOfParent = node != nil || parent?.containsCurrentTask ?? true
    self.task = Atomic(CurrentTask.identity)
    self.explicitName = name
    self.parent = parent
    self.operationType = operationType
    self.node = node
    self.uniqueSlot = uniqueSlot
    self.state = State(waitingScopes: waitingScopes)
  }
}

extension RunScope {
  /// Whether the current task does the work.
  var isInCurrentTask: Bool { self.task.load(ordering: .relaxed) == CurrentTask.identity }

  /// Notes that the current task does the work.
  func moveToCurrentTask() {
    self.task.store(CurrentTask.identity, ordering: .relaxed)
  }
}

extension RunScope {
  /// Runs `body` as part of the scope.
  @inlinable
  nonisolated(nonsending) func perform<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
    await Self.local.withValue(self) { await body() }
  }
}

extension RunScope {
  /// Calls `body` for the scope and those that cannot end before it, until it returns true. Called under the lock.
  func containsInSelfOrAround(where body: (RunScope) -> Bool) -> Bool {
    if self.state.waitingScopes.isEmpty {
      // The usual case, a chain.
      if body(self) { return true }
      return self.parent?.containsInSelfOrAround(where: body) ?? false
    }
    var known: Set<ObjectIdentifier> = []
    var pending = [self]
    while let scope = pending.popLast() {
      guard known.insert(ObjectIdentifier(scope)).inserted else { continue }
      if body(scope) { return true }
      if let parent = scope.parent { pending.append(parent) }
      pending += scope.state.waitingScopes
    }
    return false
  }

  /// The scope, and those that cannot end before it. Called under the lock.
  var selfAndAround: [RunScope] {
    var scopes: [RunScope] = []
    _ = self.containsInSelfOrAround {
      scopes.append($0)
      return false
    }
    return scopes
  }

  func isInside(_ other: RunScope) -> Bool {
    self.containsInSelfOrAround { $0 === other }
  }

  /// Whether a scope around this one holds categories. Called under the lock.
  var isInsideHolder: Bool {
    self.containsInSelfOrAround { $0 !== self && $0.state.isHolding }
  }

  /// The innermost operation of a scheduler that this scope is part of and that has not ended.
  func node(in core: SchedulerCore) -> ScheduledNode? {
    var scope: RunScope? = self
    while let current = scope {
      if let node = current.node, node.core === core, SchedulingLock.withLock({ !node.hasOutcome }) { return node }
      scope = current.parent
    }
    return nil
  }

  /// The nodes of the scheduled operations that this scope is part of, innermost first.
  var nodes: [ScheduledNode] {
    var nodes: [ScheduledNode] = []
    var scope: RunScope? = self
    while let current = scope {
      if let node = current.node { nodes.append(node) }
      scope = current.parent
    }
    return nodes
  }
}

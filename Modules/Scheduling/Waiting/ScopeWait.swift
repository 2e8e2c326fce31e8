internal import OperationCore
internal import Synchronization

/// A wait of a run for something of the schedulers. The scheduling lock guards it.
final class ScopeWait: Sendable {
  /// What a run waits for.
  enum Goal {
    /// The end of an operation.
    case value(ScheduledNode)
    /// A scheduler without operations.
    case empty(SchedulerCore)
    /// Categories.
    case categories(ExclusionWaiter)
    /// The turn of unique work.
    case unique(UniqueMember)
  }

  let goal: Goal
  /// The runs that cannot go on before the wait has ended, innermost first.
  let scopes: [RunScope]
  fileprivate let ticket: UInt64

  private static let lastTicket = Atomic<UInt64>(0)

  private init(_ goal: Goal, _ scopes: [RunScope]) {
    self.ticket = Self.lastTicket.add(1, ordering: .relaxed).newValue
    self.goal = goal
    self.scopes = scopes
  }
}

extension ScopeWait {
  /// Whether a run can wait.
  enum Beginning: Sendable {
    /// It can, and ``end()`` has to be called afterwards.
    case waits(ScopeWait)
    /// What it would wait for waits for the run.
    case cycle(WaitCycle)
  }

  /// Notes that the run of the current task waits, unless the wait would never end. Called under the scheduling lock.
  ///
  /// A task that a run has started, and that is no child task, is not part of the run, which does not wait for it.
  ///
  /// - Parameters:
  ///   - goal: What is waited for.
  ///   - scope: The innermost scope that waits.
  /// - Returns: The wait, or the cycle that it would close.
  /// - Complexity: O(1) if nothing waits for the run; otherwise O(*n*) in the runs that `goal` leads to.
  static func begin(_ goal: Goal, in scope: RunScope) -> Beginning {
    let wait = ScopeWait(goal, scope.unfinishedScopes)
    wait.count(by: 1)
    for scope in wait.scopes { scope.waits.append(wait, ticket: wait.ticket) }
    guard wait.mayBeAwaited else { return .waits(wait) }
    guard let cycle = WaitPath.cycle(through: wait) else { return .waits(wait) }
    wait.end()
    return .cycle(cycle)
  }

  /// Notes that the wait has ended. Called under the scheduling lock, by a caller with a reference to the wait.
  func end() {
    for scope in self.scopes where scope.waits.remove(self.ticket) != nil {}
    self.count(by: -1)
  }

  /// Whether something may wait for a run that waits. Called under the scheduling lock.
  private var mayBeAwaited: Bool {
    switch self.goal {
    case .value, .empty: self.scopes.contains(where: \.mayBeAwaited)
    // The innermost scope has no categories and no turn yet.
    case .categories, .unique: self.scopes.dropFirst().contains(where: \.mayBeAwaited)
    }
  }

  private func count(by change: Int) {
    switch self.goal {
    case .value(let node): if change > 0 { node.state.isAwaited = true }
    case .empty(let core): core.machine.emptyWaitCount += self.scopes.isEmpty ? 0 : change
    case .categories, .unique: break
    }
  }
}

extension RunScope {
  /// The scope of the current task, if the run of the scope waits for that task; nil otherwise.
  static var ofCurrentTask: RunScope? {
    self.current.flatMap { $0.containsCurrentTask ? $0 : nil }
  }

  /// Whether the current task does work of the run, which the run waits for.
  var containsCurrentTask: Bool {
    self.isInCurrentTask || CurrentTask.isChild || EnclosingRun.isInCurrentTask
  }

  /// This scope and those around it that cannot end before it, innermost first.
  var unfinishedScopes: [RunScope] {
    var scopes: [RunScope] = []
    var scope: RunScope? = self
    while let current = scope {
      scopes.append(current)
      scope = current.isPartOfParent ? current.parent : nil
    }
    return scopes
  }

  /// Whether something may wait for the run. Called under the scheduling lock.
  var mayBeAwaited: Bool {
    if let node = self.node { return node.mayBeAwaited }
    if let slot = self.uniqueSlot { return UniqueWork.isAwaited(slot) }
    return ExclusionLock.isHolding(self)
  }
}

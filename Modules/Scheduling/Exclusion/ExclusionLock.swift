internal import OperationCore
internal import Synchronization

/// The categories of the process, behind one lock.
enum ExclusionLock {
  // A `Mutex`, not a `Locked`: the machine never has the last reference to what may own values of users.
  private static let machine = Mutex(ExclusionMachine())

  static func addLane() -> Int {
    self.machine.withLock { $0.addLane() }
  }

  static func removeLane(_ slot: Int) {
    self.machine.withLock { $0.removeLane(slot) }
  }

  /// The numbers of categories that runs hold and of runs that wait.
  static var counts: (held: Int, waiting: Int) { self.machine.withLock { ($0.heldCount, $0.waiterCount) } }

  /// Takes all categories for `scope` if that needs no waiting.
  static func tryEnter(_ scope: RunScope, _ lanes: [Int]) -> Bool {
    self.machine.withLock { $0.tryAcquire(scope, lanes) }
  }

  /// Waits for all categories.
  ///
  /// - Parameters:
  ///   - scope: The scope of the run, which takes the categories.
  ///   - lanes: The lanes of the categories.
  ///   - context: The context of the run.
  ///   - longest: The longest time to wait; nil for as long as it takes.
  ///   - canLeave: Whether the wait ends when the task is cancelled. Otherwise the run keeps its place.
  ///   - isolation: The caller's actor.
  /// - Returns: Whether the run holds its categories, has left, or would wait in a cycle.
  static func wait(
    _ scope: RunScope,
    _ lanes: [CategoryLane],
    in context: OperationContext,
    atMost longest: Duration?,
    canLeave: Bool,
    isolation: isolated (any Actor)?
  ) async -> ExclusionOutcome {
    if let longest, longest <= .zero { return .timedOut }
    let waiter = ExclusionWaiter(
      scope: scope,
      slots: lanes.map(\.slot),
      categories: lanes.map(\.category.description)
    )
    // The wait is recorded so that no run inside of a holder joins this run, which would wait for itself.
    context.note(awaited: waiter)
    let wait = context.beginWait(for: { waiter.subject })
    defer { context.endWait(wait) }
    return await self.wait(waiter, in: context, atMost: longest, canLeave: canLeave, isolation: isolation)
  }

  /// Gives the categories of `scope` back.
  static func leave(_ scope: RunScope, _ lanes: [Int]) {
    self.resume(self.machine.withLock { $0.release(scope, lanes) })
  }

  /// Records that `scope` waits for `others`, which may then use the categories that it holds.
  ///
  /// - Returns: The waiters that are admitted by that, to resume after unlocking.
  static func adopt(_ others: [RunScope], by scope: RunScope) -> [ExclusionMachine.Resumption] {
    self.machine.withLock { $0.adopt(others, by: scope) }
  }

  /// Takes one ``adopt(_:by:)`` back.
  static func abandon(_ others: [RunScope], by scope: RunScope) {
    self.machine.withLock { $0.abandon(others, by: scope) }
  }

  /// Whether `scope` is inside of the holder of one of the lanes.
  static func isHolderAround(_ scope: RunScope, of lanes: [Int]) -> Bool {
    self.machine.withLock { machine in
      lanes.contains { machine.lanes[$0].holder.map { scope.isInside($0) } ?? false }
    }
  }

  /// Whether another scope waits for this one.
  static func isAwaited(_ scope: RunScope) -> Bool {
    self.machine.withLock { _ in !scope.state.waitingScopes.isEmpty }
  }

  /// The runs that a waiter waits for. Called under the scheduling lock.
  ///
  /// - Parameters:
  ///   - waiter: The waiter.
  ///   - scopes: Scopes whose categories the waiter may use.
  /// - Returns: The holders of the categories, and the runs that wait for them before.
  static func blockers(of waiter: ExclusionWaiter, isInside scopes: Set<ObjectIdentifier>) -> [ExclusionBlocker] {
    self.machine.withLock { $0.blockers(of: waiter, isInside: scopes) }
  }

  /// Whether a scope holds categories.
  static func isHolding(_ scope: RunScope) -> Bool {
    self.machine.withLock { _ in scope.state.isHolding }
  }

  /// The innermost holders of lanes.
  static func holders(of slots: [Int]) -> [RunScope] {
    self.machine.withLock { machine in slots.compactMap { machine.lanes[$0].holder } }
  }

  /// The holder of a lane, and the number of runs that wait for it.
  static func use(of slot: Int) -> (holder: RunScope?, waiting: Int) {
    self.machine.withLock { ($0.lanes[slot].holder, $0.lanes[slot].queue.count) }
  }

  static func resume(_ resumptions: [ExclusionMachine.Resumption]) {
    for resumption in resumptions { resumption.resume() }
  }

  private static func wait(
    _ waiter: ExclusionWaiter,
    in context: OperationContext,
    atMost longest: Duration?,
    canLeave: Bool,
    isolation: isolated (any Actor)?
  ) async -> ExclusionOutcome {
    self.resume(self.machine.withLock { $0.enqueue(waiter) })
    let timer = longest.map { longest in
      context.timer(at: context.elapsed + longest.clampedForClock) {
        self.resume(self.machine.withLock { $0.leave(waiter, with: .timedOut) })
      }
    }
    defer { timer?.cancel() }
    // Noted after the waiter has its place, so that whoever comes later finds both.
    let beginning = SchedulingLock.withLock { ScopeWait.begin(.categories(waiter), in: waiter.scope) }
    var wait: ScopeWait?
    switch beginning {
    case .waits(let begun): wait = begun
    case .cycle(let cycle):
      self.resume(self.machine.withLock { $0.leave(waiter, with: .cycle(cycle)) })
    }
    defer { if let wait { SchedulingLock.withLock { wait.end() } } }
    // The run gives its place in the scheduler to others meanwhile: the holder may need one to end.
    let nodes = waiter.scope.nodes
    for node in nodes { node.lend(for: NodeWait(.waitingForCategories, waiter.categories, slots: waiter.slots)) }
    let outcome =
      if canLeave {
        await withTaskCancellationHandler {
          await self.suspend(waiter, isolation: isolation)
        } onCancel: {
          self.resume(self.machine.withLock { $0.leave(waiter) })
        }
      } else {
        await self.suspend(waiter, isolation: isolation)
      }
    for node in nodes.reversed() { await node.reclaim(after: .waitingForCategories, isolation: isolation) }
    return outcome
  }

  private static func suspend(
    _ waiter: ExclusionWaiter,
    isolation: isolated (any Actor)?
  ) async -> ExclusionOutcome {
    await Waiter.outcome { continuation in
      self.machine.withLock { _ in waiter.state.waiter.suspend(continuation) }
    }
  }
}

extension ExclusionWaiter {
  /// The categories and the operations that hold them, to follow "it waits for".
  fileprivate var subject: String {
    let holders = ExclusionLock.holders(of: self.slots).map(\.name)
    let names = self.categories.joined(separator: ", ")
    let list = self.categories.count == 1 ? "the category \(names)" : "the categories \(names)"
    return list + (holders.isEmpty ? "" : ", held by \(holders.joined(separator: ", "))")
  }
}

extension ExclusionWaiter: WaitNode {
  var waits: [WaitEdge] { [] }

  var isEndedByCurrentTask: Bool {
    RunScope.current.map { ExclusionLock.isHolderAround($0, of: self.slots) } ?? false
  }

  var waitName: String? { nil }
  var isQueue: Bool { true }
}

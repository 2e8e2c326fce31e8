public import OperationCore
public import Synchronization

/// A ``DeduplicatedRun`` of any operation.
@usableFromInline
protocol AnyDeduplicatedRun: AnyObject, Sendable {
  /// The context of the caller who began the run.
  var context: OperationContext { get }
  /// The invalidation before which the run began: it answers that one and those before it.
  var invalidation: Int { get }
  /// The run, as one that others may wait for.
  var node: any WaitNode { get }
}

/// One run of an operation that several callers share, with the continuations of those callers.
///
/// It is the delegate of its run. The two hold each other until the run is over.
@usableFromInline
final class DeduplicatedRun<Operation: OperationRequest & Sendable>: AnyDeduplicatedRun
where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>
  @usableFromInline typealias Outcome = Result<Operation.Value, Operation.Failure>

  @usableFromInline
  struct Listener: Sendable {
    @usableFromInline let id: UInt64
    /// Nil once the caller has left.
    @usableFromInline var continuation: Continuation?

    @inlinable
    init(id: UInt64, continuation: Continuation) {
      self.id = id
      self.continuation = continuation
    }
  }

  /// What was yielded last.
  @usableFromInline
  final class Yield: Sendable {
    @usableFromInline let result: Outcome
    @usableFromInline let context: OperationContext?
    /// Counts the yields of a run.
    @usableFromInline let number: Int

    @inlinable
    init(result: Outcome, context: OperationContext?, number: Int) {
      self.result = result
      self.context = context
      self.number = number
    }
  }

  @usableFromInline let context: OperationContext
  @usableFromInline let invalidation = InvalidationNumber.latest
  /// The actor that the work runs on: that of the caller who began it.
  @usableFromInline let isolation: (any Actor)?
  @usableFromInline let operation: Operation
  @usableFromInline let registry: RunRegistry<Operation>

  // The lock lies beside what it guards, not around it: letting go of a `Mutex` of a generic type looks up three types.
  @usableFromInline let lock = Mutex(())
  // Unsafe only in name: set before anybody else knows of the object.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var madeRun:
    SharedRun<
      Operation.Value, Operation.Failure
    >?
  // Unsafe only in name: touched by whoever holds the lock. The one who began the run; nil once it has left.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var leader: Continuation?
  // Unsafe only in name, as `leader`. The others, in the order in which they came.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var listeners: [Listener] = []
  // Unsafe only in name, as `leader`. How many of them have left.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var vacancies = 0
  // Unsafe only in name, as `leader`.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var lastID: UInt64 = 0
  // Unsafe only in name, as `leader`.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var lastYield: Yield?
  // Unsafe only in name, as `leader`. What the work has asked for last.
  private nonisolated(unsafe) weak var called: (any WaitNode)?

  @inlinable
  init(
    operation: Operation,
    context: OperationContext,
    isolation: (any Actor)?,
    registry: RunRegistry<Operation>,
    leader: Continuation
  ) {
    self.operation = operation
    self.context = context
    self.isolation = isolation
    self.registry = registry
    self.leader = leader
    // The leader holds on to it, who is about to begin it.
    self.madeRun = SharedRun(delegate: self, ownerCount: 1)
  }

  @inlinable
  var sharedRun: SharedRun<Operation.Value, Operation.Failure> {
    guard let sharedRun = self.madeRun else { preconditionFailure("A shared sharedRun is made with its sharedRun.") }
    return sharedRun
  }
}

// MARK: - Sharing

extension DeduplicatedRun {
  /// Begins the run and waits for its outcome.
  ///
  /// It runs in the task that a store has made for the run, where this is that, and in one of its own otherwise.
  @inlinable
  nonisolated(nonsending) func begin() async -> Outcome {
    let sharedRun = self.sharedRun
    let context = self.context
    if let loan = context.taskLoan {
      // One that is cancelled already would cancel what others join.
      if self.isolation == nil, !context.hasTaskConfiguration, !Task.isCancelled {
        let current = RunTask.current
        if loan.lend(to: self, in: current) {
          return await sharedRun.outcome(in: context, borrowing: loan, task: current, for: self) {
            // The task knows its run already.
            await self.run(isolation: nil, in: context)
          }
        }
      }
      loan.note(awaited: sharedRun)
    } else if EnclosingRun.exists {
      EnclosingRun.note(awaited: sharedRun)
    }
    let outcome = await self.raisingPriority {
      await sharedRun.outcome(in: context, leaving: .atOnce, isOwner: true, delegate: self)
    }
    self.removeLeader()
    return outcome
  }

  /// Waits for the outcome with those who do already; nil when the run is dying or over.
  // Not inlined: those who begin a run would keep room for it.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func join(in context: OperationContext, with continuation: Continuation) async -> Outcome? {
    var id: UInt64?
    context.taskLoan?.note(awaited: self.sharedRun)
    let outcome = await self.raisingPriority {
      await self.sharedRun.outcomeIfAlive(leaving: .atOnce) {
        id = self.catchUp(continuation)
        context.noteJoin()
      }
    }
    if let id { self.remove(id) }
    return outcome
  }

  /// Waits, and raises the priority of the run with that of the task that waits: as when a store raises its run.
  @inlinable
  nonisolated(nonsending) func raisingPriority<R>(_ wait: nonisolated(nonsending) () async -> R) async -> R {
    let sharedRun = self.sharedRun
    return await withTaskPriorityEscalationHandler {
      await wait()
    } onPriorityEscalated: { _, priority in
      sharedRun.raise(to: priority)
    }
  }

  /// Called under the lock.
  @inlinable
  func add(_ continuation: Continuation) -> UInt64 {
    self.lastID += 1
    self.listeners.append(Listener(id: self.lastID, continuation: continuation))
    return self.lastID
  }

  /// Adds the continuation of a latecomer once it has what was yielded last.
  @inlinable
  func catchUp(_ continuation: Continuation) -> UInt64 {
    var seen = 0
    while true {
      let (id, missed) = self.lock.withLock { _ -> (UInt64?, Yield?) in
        if let last = self.lastYield, last.number > seen { return (nil, last) }
        return (self.add(continuation), nil)
      }
      if let id { return id }
      guard let missed else { continue }
      seen = missed.number
      continuation.yield(with: missed.result, using: missed.context)
    }
  }

  @usableFromInline
  func removeLeader() {
    var removed: Continuation?
    self.lock.withLock { _ in
      removed = self.leader
      self.leader = nil
    }
    _ = consume removed  // Released after the lock.
  }

  @inlinable
  func remove(_ id: UInt64) {
    let removed = self.lock.withLock { _ -> Continuation? in
      // The identifiers grow, so their place is found by halves.
      var (low, high) = (0, self.listeners.count)
      while low < high {
        let middle = (low + high) / 2
        if self.listeners[middle].id < id { low = middle + 1 } else { high = middle }
      }
      guard low < self.listeners.count, self.listeners[low].id == id else { return nil }
      let removed = self.listeners[low].continuation.take()
      self.vacancies += 1
      if self.vacancies > self.listeners.count / 2 {
        self.listeners.removeAll { $0.continuation == nil }
        self.vacancies = 0
      }
      return removed
    }
    withExtendedLifetime(removed) {}  // Released after the lock.
  }

  /// Lets go of those who listen to a run that is over.
  @inlinable
  func removeAll() {
    // Not returned: what a lock returns has its type looked up, where that is not known to the compiler.
    var leader: Continuation?
    var listeners: [Listener] = []
    self.lock.withLock { _ in
      (leader, listeners) = (self.leader, self.listeners)
      (self.leader, self.listeners) = (nil, [])
      self.vacancies = 0
    }
    // Released after the lock.
    _ = consume leader
    _ = consume listeners
  }

  /// Hands what was yielded to all who share the run.
  @usableFromInline
  func yield(_ result: Outcome, using context: OperationContext?) {
    guard self.sharedRun.isExecuting else { return self.reportLateYield() }
    let (leader, listeners, replaced) = self.lock.withLock { _ in
      let last = self.lastYield
      self.lastYield = Yield(result: result, context: context, number: (last?.number ?? 0) + 1)
      return (self.leader, self.listeners, last)
    }
    _ = consume replaced  // Released after the lock.
    leader?.yield(with: result, using: context)
    for listener in listeners { listener.continuation?.yield(with: result, using: context) }
  }

  private func reportLateYield() {
    // A cancelled run has ended for its callers while its work may go on.
    if self.sharedRun.isCancelled { return }
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        A run of \(Operation.self) yielded a result after it had returned. The result was dropped. Yield before \
        returning: await the work that yields inside the operation.
        """
    ).report()
  }
}

// MARK: - Running

extension DeduplicatedRun: RunDelegate {
  @inlinable
  package nonisolated(nonsending) func perform(_ invocation: RunInvocation<DeduplicatedRun<Operation>>) async -> Outcome
  {
    await self.perform(in: invocation.context)
  }

  /// Runs the operation, in whatever task.
  @inlinable
  nonisolated(nonsending) func perform(in context: OperationContext) async -> Outcome {
    await EnclosingRun.perform(self) {
      await self.run(isolation: self.isolation, in: context)
    }
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) func run(isolation: (any Actor)?, in context: OperationContext) async -> Outcome {
    let continuation = Continuation { result, context in self.yield(result, using: context) }
    do throws(Operation.Failure) {
      return .success(try await self.operation.run(isolation: isolation, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }

  @usableFromInline
  package func waits(of sharedRun: SharedRun<Operation.Value, Operation.Failure>) -> [WaitEdge] {
    let called = self.lock.withLock { _ in self.called }
    // What the run of the store waits for before its work begins is waited for in here.
    return (self.context.runAttachment?.awaitedRuns ?? []) + (called.map { [WaitEdge(awaited: $0)] } ?? [])
  }

  @usableFromInline package var waitName: String? { self.operation.operationName }

  @inlinable
  package func wasCancelled(_ sharedRun: SharedRun<Operation.Value, Operation.Failure>) {
    self.registry.remove(self)
  }

  @inlinable
  package func didFinish(
    _ task: OperationTask<Operation.Value, Operation.Failure>,
    with outcome: Result<Operation.Value, Operation.Failure>,
    isCancelled: Bool
  ) {
    self.registry.remove(self)
    self.removeAll()
  }
}

extension DeduplicatedRun: WaitingRun {
  @usableFromInline package var isInCurrentTask: Bool { self.sharedRun.isEndedByCurrentTask }

  @usableFromInline
  package func note(called node: any WaitNode) {
    self.lock.withLock { _ in self.called = node }
  }
}

extension DeduplicatedRun: TaskBorrower {
  @usableFromInline package var node: any WaitNode { self.sharedRun }

  @usableFromInline
  package func lenderWasCancelled() {
    self.removeLeader()
    self.sharedRun.removeOwner()
  }
}

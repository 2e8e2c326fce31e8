public import OperationCore
public import Synchronization

/// A ``DeduplicatedRun`` of any operation.
@usableFromInline
protocol AnyDeduplicatedRun: AnyObject, Sendable {
  /// The context of the caller that began the run.
  var context: OperationContext { get }
  /// The number of the last invalidation before the run began. Callers after a later one do not join.
  var invalidation: Int { get }
  /// The run as a node of the wait graph; nil when it has ended without another caller.
  var node: (any WaitNode)? { get }
}

/// One run of an operation that several callers share, with the continuations of those callers.
///
/// It is the delegate of its shared run, if it has one. The two retain each other until the run finishes.
@usableFromInline
final class DeduplicatedRun<Operation: OperationRequest & Sendable>: AnyDeduplicatedRun
where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>
  @usableFromInline typealias Run = SharedRun<Operation.Value, Operation.Failure>
  @usableFromInline typealias Outcome = RunOutcome<Operation.Value, Operation.Failure>

  /// A caller that has joined the run.
  @usableFromInline
  struct Listener: Sendable {
    @usableFromInline let id: UInt64
    /// Nil when the caller has left.
    @usableFromInline var continuation: Continuation?
    /// The context of a caller whose store shows the progress of the run.
    @usableFromInline var context: OperationContext?

    @inlinable
    init(id: UInt64, continuation: Continuation, context: OperationContext?) {
      self.id = id
      self.continuation = continuation
      self.context = context
    }
  }

  /// The callers that have joined the run, in the order in which they joined.
  // An object, as most runs have none: code that is not specialized looks up the type of an array of listeners, also
  // for an empty one.
  @usableFromInline
  final class Listeners: @unchecked Sendable {
    // Unchecked because the lock of the run guards the variables.
    @usableFromInline var all: [Listener] = []
    /// The number of listeners that have left.
    @usableFromInline var vacancies = 0

    @inlinable
    init() {}

    /// Returns the listener, which the caller releases after unlocking.
    @inlinable
    func remove(_ id: UInt64) -> Listener? {
      // Binary search: the identifiers ascend.
      var (low, high) = (0, self.all.count)
      while low < high {
        let middle = (low + high) / 2
        if self.all[middle].id < id { low = middle + 1 } else { high = middle }
      }
      guard low < self.all.count, self.all[low].id == id else { return nil }
      let removed = self.all[low]
      (self.all[low].continuation, self.all[low].context) = (nil, nil)
      self.vacancies += 1
      if self.vacancies > self.all.count / 2 {
        self.all.removeAll { $0.continuation == nil }
        self.vacancies = 0
      }
      return removed
    }
  }

  /// A result that the run has yielded.
  @usableFromInline
  final class Yield: Sendable {
    @usableFromInline let result: Result<Operation.Value, Operation.Failure>
    @usableFromInline let context: OperationContext?
    /// The position among the yields of the run; the first is 1.
    @usableFromInline let number: Int

    @inlinable
    init(result: Result<Operation.Value, Operation.Failure>, context: OperationContext?, number: Int) {
      self.result = result
      self.context = context
      self.number = number
    }
  }

  /// The state that the lock guards.
  @usableFromInline
  struct State: Sendable {
    /// The continuation of the caller that began the run. Nil when that caller has left.
    @usableFromInline var leader: Continuation?
    /// The other callers; nil before the first has joined.
    @usableFromInline var listeners: Listeners?
    @usableFromInline var lastID: UInt64 = 0
    @usableFromInline var lastYield: Yield?
    /// What the run has reported of its progress, for callers that join later; nil until it reports anything.
    @usableFromInline var progress: RelayedProgress?
    /// The run that the work called last.
    @usableFromInline var called: WeakNode?
    /// The run that the callers wait for. Made when it is first needed: a run that borrows the task of its first caller
    /// has none before another caller joins.
    @usableFromInline var sharedRun: Run?
    /// The task that does the work, if it is borrowed and the work has not ended.
    @usableFromInline var borrowed: RunTask?
    /// Whether a run in a borrowed task has ended.
    @usableFromInline var hasEnded = false

    @inlinable
    init(leader: Continuation) {
      self.leader = leader
    }

    @inlinable
    mutating func add(_ continuation: Continuation, _ context: OperationContext?) -> UInt64 {
      self.lastID += 1
      let listeners = self.listeners ?? Listeners()
      self.listeners = listeners
      listeners.all.append(Listener(id: self.lastID, continuation: continuation, context: context))
      return self.lastID
    }
  }

  @usableFromInline let context: OperationContext
  @usableFromInline let invalidation = InvalidationNumber.latest
  /// The actor that the work runs on: that of the caller that began the run.
  @usableFromInline let isolation: (any Actor)?
  @usableFromInline let operation: Operation
  @usableFromInline let registry: RunRegistry<Operation>

  @usableFromInline let lock = Mutex(())
  // Unsafe because the compiler does not see that `withState` holds the lock. The state lies beside the lock, not in
  // it: releasing a `Mutex` of a generic type looks up the metadata of three types. The lock makes the accesses
  // exclusive, too: checked, together with those to the shared run and its contexts they take 1,700 of the 17,400
  // instructions of a run.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var state: State

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
    self.state = State(leader: leader)
  }

  /// The run that the callers wait for, made if there is none; nil when the run has ended without one.
  @usableFromInline
  func makeSharedRunIfNeeded() -> Run? {
    var sharedRun: Run?
    self.withState { state in
      if state.sharedRun == nil, !state.hasEnded {
        // The one owner is the leader.
        let made = Run(delegate: self, ownerCount: 1)
        if let borrowed = state.borrowed { _ = made.start(borrowing: borrowed) }
        state.sharedRun = made
      }
      sharedRun = state.sharedRun
    }
    return sharedRun
  }

  /// Whether the work may yield.
  var isExecuting: Bool {
    let (sharedRun, isBorrowing) = self.withState { ($0.sharedRun, $0.borrowed != nil) }
    return sharedRun?.isExecuting ?? isBorrowing
  }

  /// Runs `body`, which must not call user code or release user values, with the lock held.
  @inlinable
  @inline(__always)
  func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
    self.lock.withLock { _ in body(&self.state) }
  }
}

// MARK: - Passing results and progress on

extension DeduplicatedRun {
  /// Reports the run's progress to the stores of the other callers. The store of the first caller receives it directly.
  @usableFromInline
  package func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    guard id == self.context.operationRunningTaskIdentifier, self.isExecuting else { return }
    let (contexts, replaced) = self.withState { state -> ([OperationContext], RelayedProgress?) in
      let replaced = state.progress
      state.progress = RelayedProgress(after: replaced, progress)
      let listeners = state.listeners?.all ?? []
      return (listeners.compactMap { $0.continuation == nil ? nil : $0.context }, replaced)
    }
    _ = consume replaced  // Released after unlocking.
    for context in contexts { context.reportToStore(progress) }
  }

  /// Passes a result to all callers that share the run.
  @usableFromInline
  func yield(_ result: Result<Operation.Value, Operation.Failure>, using context: OperationContext?) {
    guard self.isExecuting else { return self.reportLateYield() }
    let (leader, listeners, replaced) = self.withState { state in
      let last = state.lastYield
      state.lastYield = Yield(result: result, context: context, number: (last?.number ?? 0) + 1)
      return (state.leader, state.listeners?.all ?? [], last)
    }
    _ = consume replaced  // Released after unlocking.
    leader?.yield(with: result, using: context)
    for listener in listeners { listener.continuation?.yield(with: result, using: context) }
  }

  private func reportLateYield() {
    // A cancelled run has finished for its callers, but its work may go on.
    if let sharedRun = self.makeSharedRunIfNeeded(), sharedRun.isCancelled { return }
    OperationWarning.lateYield("A run of \(Operation.self) yielded a result after it had returned").report()
  }
}

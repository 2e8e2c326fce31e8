internal import OperationCore
internal import Synchronization

/// One run of an operation outside of stores, which several callers share.
///
/// It is the delegate of its shared run. The two retain each other until the run has finished.
final class DeduplicatedRun<Operation: OperationRequest & SendableMetatype>: Sendable where Operation.Value: Sendable {
  typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  private struct State: Sendable {
    /// Nil in the initializer, which needs the object to make the run, and once the run has turned out not to be used.
    var sharedRun: SharedRun?
    var callers: RunCallers<Operation>
    /// The run that the work waits for. One that has ended may stay here.
    var called: WeakNode?
  }

  /// The context of the caller that began the run.
  let context: OperationContext
  /// The number of the last invalidation before the run began. Callers after a later one do not join.
  let invalidation = InvalidationEpoch.latest
  // Safe, because the operation is Sendable where it is deduplicated: see `Deduplication`.
  private nonisolated(unsafe) let operation: Operation
  /// The actor that the work runs on: the one of the caller that began the run.
  private let isolation: (any Actor)?
  private let registry: RunRegistry<Operation>
  private let state: Mutex<State>

  /// Creates a run for a caller that then calls ``begin()``.
  init(
    operation: Operation,
    context: OperationContext,
    isolation: (any Actor)?,
    registry: RunRegistry<Operation>,
    continuation: Continuation
  ) {
    self.operation = operation
    self.context = context
    self.isolation = isolation
    self.registry = registry
    self.state = Mutex(State(callers: RunCallers(first: continuation)))
    // The one owner is the caller that begins the run.
    let sharedRun = SharedRun(delegate: self, failure: Operation.Failure.self, ownerCount: 1)
    self.state.withLock { $0.sharedRun = sharedRun }
  }

  /// The run that the callers wait for.
  var sharedRun: SharedRun {
    guard let sharedRun = self.state.withLock({ $0.sharedRun }) else {
      preconditionFailure("A deduplicated run was used before it was initialized.")
    }
    return sharedRun
  }

  /// Releases the shared run of a run that is not used. The two would retain each other for ever, because it never finishes.
  @inline(never)
  func endUnused() {
    let sharedRun = self.state.withLock { $0.sharedRun.take() }
    _ = consume sharedRun  // Released after unlocking.
  }
}

// MARK: - Callers

extension DeduplicatedRun {
  /// Begins the run, and waits for its outcome.
  nonisolated(nonsending) func begin() async -> RunOutcome {
    let sharedRun = self.sharedRun
    if EnclosingRun.notesWaits { EnclosingRun.note(awaited: sharedRun) }
    let outcome = await Self.raisingPriority(of: sharedRun) {
      await sharedRun.startAndWait(in: self.context, leaving: .atOnce, isAlreadyOwner: true)
    }
    self.remove(RunCallers<Operation>.firstID)
    return outcome
  }

  /// Joins the run, and waits for its outcome. Returns nil when the run is cancelled or has finished.
  nonisolated(nonsending) func join(in context: OperationContext, with continuation: Continuation) async -> RunOutcome?
  {
    let sharedRun = self.sharedRun
    var id: UInt64?
    let outcome = await Self.raisingPriority(of: sharedRun) {
      await sharedRun.joinIfAlive(leaving: .atOnce) {
        id = self.catchUp(continuation, in: context)
        context.reportJoin()
      }
    }
    if let id { self.remove(id) }
    return outcome
  }

  /// Waits, and raises the priority of the run whenever the waiting task's is raised.
  private nonisolated(nonsending) static func raisingPriority<R>(
    of sharedRun: SharedRun,
    _ wait: nonisolated(nonsending) () async -> R
  ) async -> R {
    await withTaskPriorityEscalationHandler {
      await wait()
    } onPriorityEscalated: { _, priority in
      sharedRun.raise(to: priority)
    }
  }

  /// Passes the last result and the progress to a caller that joins late, and then adds it.
  private func catchUp(_ continuation: Continuation, in context: OperationContext) -> UInt64 {
    // A caller outside of a store has no use for the progress.
    let progressContext = context.hasProgressStore ? context : nil
    var seen = RunCallers<Operation>.Seen()
    while true {
      switch self.state.withLock({ $0.callers.add(continuation, progressContext, hasSeen: seen) }) {
      case .added(let id): return id
      case .missedProgress(let progress):
        seen.progress = progress
        for missed in progress.missed { context.reportToStore(missed) }
      case .missedYield(let yield):
        seen.yieldCount = yield.number
        continuation.yield(with: yield.result, using: yield.context)
      }
    }
  }

  private func remove(_ id: UInt64) {
    let removed = self.state.withLock { $0.callers.remove(id) }
    _ = consume removed  // Released after unlocking.
  }
}

// MARK: - Work

extension DeduplicatedRun: RunDelegate {
  nonisolated(nonsending) func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    let continuation = Continuation { result, context in self.yield(result, using: context) }
    return await EnclosingRun.perform(self, in: invocation.context) {
      do throws(Operation.Failure) {
        let value = try await self.operation.run(
          isolation: self.isolation,
          in: invocation.context,
          with: continuation
        )
        return RunSuccess(value)
      } catch {
        return RunFailure(error)
      }
    }
  }

  /// Passes a result to all callers.
  private func yield(_ result: Result<Operation.Value, Operation.Failure>, using context: OperationContext?) {
    let sharedRun = self.sharedRun
    guard sharedRun.isExecuting else {
      // A cancelled run has finished for its callers, but its work may go on.
      if !sharedRun.isCancelled {
        OperationWarning.lateYield("A run of \(Operation.self) yielded a result after it had returned").report()
      }
      return
    }
    let (continuations, replaced) = self.state.withLock { $0.callers.note(result, using: context) }
    _ = consume replaced  // Released after unlocking.
    for continuation in continuations { continuation.yield(with: result, using: context) }
  }

  func waits(of sharedRun: SharedRun) -> [WaitEdge] {
    self.state.withLock { $0.called }?.node.map { [WaitEdge(awaited: $0)] } ?? []
  }

  var waitName: String? { self.operation.operationName }

  func wasCancelledBeforeWork(_ sharedRun: SharedRun) {
    self.registry.remove(self)
  }

  func wasCancelled(_ sharedRun: SharedRun) {
    self.registry.remove(self)
  }

  func didFinish(_ task: ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    self.registry.remove(self)
  }
}

extension DeduplicatedRun: WaitingRun {
  var isInCurrentTask: Bool { self.sharedRun.isEndedByCurrentTask }

  func note(called node: (any WaitNode)?) {
    let called = node.map(WeakNode.init)
    let replaced = self.state.withLock { state in
      defer { state.called = called }
      return state.called
    }
    _ = consume replaced  // Released after unlocking.
  }

  // The store of the caller that began the run receives its progress directly.
  func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) {
    guard id == self.context.operationRunningTaskIdentifier, self.sharedRun.isExecuting else { return }
    let (contexts, replaced) = self.state.withLock { $0.callers.note(progress) }
    _ = consume replaced  // Released after unlocking.
    for context in contexts { context.reportToStore(progress) }
  }
}

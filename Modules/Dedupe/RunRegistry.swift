public import OperationCore
internal import Synchronization

/// The runs of one deduplicated operation outside of stores that are under way.
@usableFromInline
final class RunRegistry<Operation: OperationRequest & SendableMetatype>: Sendable where Operation.Value: Sendable {
  fileprivate struct State: Sendable {
    var runs: [DeduplicatedRun<Operation>] = []
    /// The number of runs that were ever added, by which concurrent additions are detected.
    var additions = 0
  }

  private let state = Mutex(State())
  // Not generic, so that a run of a store looks up no type.
  private let admitted = Mutex(AdmittedRuns())

  @usableFromInline
  init() {}

  /// Lets a run pass whose store has decided, by the rule of this modifier, which callers share it.
  ///
  /// - Parameter context: The context of the run.
  /// - Returns: The run, with which the caller calls ``leave(_:)`` after the operation. Nil if there is no such store, or
  ///   if the run is inside of the modifier already: the work runs the operation again, or does so several times at once.
  @usableFromInline
  func enter(with context: OperationContext) -> OperationTaskIdentifier? {
    guard context.isAdmittedByStore, let run = context.operationRunningTaskIdentifier,
      context.operationRunSharing?.registry === self
    else { return nil }
    return self.admitted.withLock { $0.add(run) } ? run : nil
  }

  /// Notes that the operation of a run that was let pass has ended.
  @usableFromInline
  func leave(_ run: OperationTaskIdentifier) {
    self.admitted.withLock { $0.remove(run) }
  }

  /// Joins a run that does the same work, or begins a new one, and waits for its value.
  ///
  /// - Parameters:
  ///   - operation: The operation to run.
  ///   - context: The context of the caller.
  ///   - continuation: Receives what the run yields.
  ///   - isolation: The actor that a new run runs on.
  ///   - isSameRun: Returns whether a call with the first context may join a run with the second.
  /// - Returns: The value of the run.
  /// - Throws: The error of the run, or a `CancellationError` if the caller leaves before the end.
  @usableFromInline
  nonisolated(nonsending) func value(
    of operation: Operation,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>,
    isolation: (any Actor)?,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async throws(Operation.Failure) -> Operation.Value {
    while true {
      let (runs, additions) = self.state.withLock { ($0.runs, $0.additions) }
      switch self.match(for: context, among: runs, isSameRun) {
      case .run(let run)?:
        if let outcome = await run.join(in: context, with: continuation) {
          return try outcome.get(Operation.Value.self, Operation.Failure.self)
        }
        self.remove(run)
      case .cycle(let names)?:
        return try RunOutcome.cycle(names, as: Operation.Failure.self).get(Operation.Value.self, Operation.Failure.self)
      case nil:
        let run = DeduplicatedRun(
          operation: operation,
          context: context,
          isolation: isolation,
          registry: self,
          continuation: continuation
        )
        if self.add(run, ifUnchangedSince: additions) {
          return try await run.begin().get(Operation.Value.self, Operation.Failure.self)
        }
        run.endUnused()
      }
    }
  }

  private enum Match {
    /// A run that the caller can join.
    case run(DeduplicatedRun<Operation>)
    /// The operations of a cycle: the run that does the same work waits for the caller.
    case cycle([String])
  }

  /// Finds a run that does the same work and began after the last invalidation of the caller's store.
  ///
  /// - Returns: The run, or the cycle that joining it would close; nil without such a run. Where the failure cannot be
  ///   a cycle, that is reported, and the caller gets no run.
  private func match(
    for context: OperationContext,
    among runs: [DeduplicatedRun<Operation>],
    _ isSameRun: (OperationContext, OperationContext) -> Bool
  ) -> Match? {
    let lastInvalidation = context.lastInvalidation
    for run in runs where run.invalidation.rawValue >= lastInvalidation && isSameRun(context, run.context) {
      switch WaitGraph.noteAndFind(joining: run.sharedRun) {
      case .open: return .run(run)
      case .queuedBehindCaller: continue
      case .recursion(let names):
        if OperationCycleError.isFailure(Operation.Failure.self) { return .cycle(names) }
        OperationCycleError(operationNames: names).report()
      }
    }
    return nil
  }

  /// Adds a run, unless another one was added after the caller had read `additions`.
  private func add(_ run: DeduplicatedRun<Operation>, ifUnchangedSince additions: Int) -> Bool {
    self.state.withLock { state in
      guard state.additions == additions else { return false }
      state.additions += 1
      state.runs.append(run)
      return true
    }
  }

  // The caller retains the run, so nothing is released with the lock held.
  func remove(_ run: DeduplicatedRun<Operation>) {
    self.state.withLock { state in
      if let index = state.runs.firstIndex(where: { $0 === run }) { state.runs.remove(at: index) }
    }
  }
}

/// The runs of stores whose operation is under way inside of the modifier.
private struct AdmittedRuns: Sendable {
  // The first one is stored inline, because nearly always there is one, and a list would be an allocation.
  private var first: OperationTaskIdentifier?
  private var others: [OperationTaskIdentifier] = []

  /// Adds a run. Returns false if it is there already.
  mutating func add(_ run: OperationTaskIdentifier) -> Bool {
    if self.first == run || self.others.contains(run) { return false }
    if self.first == nil { self.first = run } else { self.others.append(run) }
    return true
  }

  mutating func remove(_ run: OperationTaskIdentifier) {
    if self.first == run {
      self.first = nil
    } else if let index = self.others.firstIndex(of: run) {
      self.others.remove(at: index)
    }
  }
}

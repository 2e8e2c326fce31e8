public import OperationCore
public import Synchronization

/// The deduplicated runs of one operation that are under way.
@usableFromInline
final class RunRegistry<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  // Not generic: in code that is not specialized, arrays and locks of generic types look up metadata.
  @usableFromInline let state = Mutex(RegisteredRuns())

  @inlinable
  init() {}

  /// Joins a run that does the same work, or begins a new one, and waits for its outcome.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func outcome(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    isolation: (any Actor)?,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async -> RunOutcome<Operation.Value, Operation.Failure> {
    while true {
      let (runs, additions) = self.state.withLock { ($0.runs, $0.additions) }
      if !runs.isEmpty {
        switch self.match(for: context, among: runs, isSameRun) {
        case .none: break
        case .run(let match):
          let run = unsafeDowncast(match, to: DeduplicatedRun<Operation>.self)
          if let outcome = await run.join(in: context, with: continuation) { return outcome }
          self.remove(run)
          continue
        case .circle(let names): return .circle(names)
        }
      }
      var added: DeduplicatedRun<Operation>?
      self.state.withLock { state in
        guard state.additions == additions else { return }
        // Made only when it is added: it and its shared run retain each other until it has begun and finished.
        let run = DeduplicatedRun(
          operation: operation,
          context: context,
          isolation: isolation,
          registry: self,
          leader: continuation
        )
        state.add(run)
        added = run
      }
      guard let added else { continue }
      let outcome = await added.begin()
      // A run that was cancelled before it began has not removed itself.
      if Task.isCancelled, !added.sharedRun.isAlive { self.remove(added) }
      return outcome
    }
  }

  @usableFromInline
  enum Match {
    case none
    /// A run that the caller can join.
    case run(any AnyDeduplicatedRun)
    /// A run that does the same work, but waits for the caller. The names are those of the operations in the circle.
    case circle([String])
  }

  /// Finds a run that a caller with `context` can join.
  ///
  /// Such a run does the same work, began after the last invalidation of the caller's store, and does not wait for the
  /// caller.
  @inlinable
  func match(
    for context: OperationContext,
    among runs: ContiguousArray<any AnyDeduplicatedRun>,
    _ isSameRun: (OperationContext, OperationContext) -> Bool
  ) -> Match {
    let lastInvalidation = context.lastInvalidation
    for run in runs where run.invalidation >= lastInvalidation && isSameRun(context, run.context) {
      switch WaitGraph.finding(joining: run.node) {
      case .open: return .run(run)
      case .queuedBehindCaller: continue
      case .recursion(let names):
        if OperationCircleError.isFailure(Operation.Failure.self) { return .circle(names) }
        // The store that runs the operation may have reported the circle.
        if context.taskLoan?.hasReportedCircle != true { OperationCircleError(operationNames: names).report() }
      }
    }
    return .none
  }

  @inlinable
  func remove(_ run: DeduplicatedRun<Operation>) {
    self.state.withLock { $0.remove(run) }
  }
}

/// The state of a registry.
@usableFromInline
struct RegisteredRuns: Sendable {
  @usableFromInline var runs: ContiguousArray<any AnyDeduplicatedRun> = []
  /// The number of runs that were ever added. Another number than before means that one was added meanwhile.
  @usableFromInline var additions = 0

  @inlinable
  init() {}

  @inlinable
  mutating func add(_ run: any AnyDeduplicatedRun) {
    self.additions += 1
    self.runs.append(run)
  }

  /// The caller retains the run, so nothing is released with the lock held.
  @inlinable
  mutating func remove(_ run: any AnyDeduplicatedRun) {
    if self.runs.count == 1, self.runs[0] === run {
      self.runs.removeLast()
    } else {
      self.runs.removeAll { $0 === run }
    }
  }
}

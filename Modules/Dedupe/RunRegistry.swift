public import OperationCore
public import Synchronization

/// The deduplicated runs of one operation that are under way.
@usableFromInline
final class RunRegistry<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>
  @usableFromInline typealias Outcome = RunOutcome<Operation.Value, Operation.Failure>

  // Not generic: in code that is not specialized, arrays and locks of generic types look up metadata.
  @usableFromInline let state = Mutex(RegisteredRuns())

  @inlinable
  init() {}

  /// Joins a run that does the same work, or begins a new one, and waits for its value.
  ///
  /// A new run borrows the current task when that is the task of a store's run and can be lent. Otherwise it makes one.
  // The unusual paths share one `try`: where the failure type is unknown, each allocates room for an error.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func value(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    isolation: (any Actor)?,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async throws(Operation.Failure) -> Operation.Value {
    while true {
      let outcome: Outcome
      switch self.admission(of: operation, in: context, with: continuation, isolation: isolation, isSameRun) {
      case .existing(let match):
        let run = unsafeDowncast(match, to: DeduplicatedRun<Operation>.self)
        guard let joined = await run.join(in: context, with: continuation) else {
          self.remove(run)
          continue
        }
        outcome = joined
      case .cycle(let names): outcome = .cycle(names)
      case .new(let run):
        // A run that was cancelled before it began has not removed itself.
        defer { if Task.isCancelled, run.makeSharedRunIfNeeded()?.isAlive != true { self.remove(run) } }
        guard let task = run.borrowTask() else {
          outcome = await run.beginInOwnTask()
          break
        }
        do throws(Operation.Failure) {
          // Not `perform(in:)`: the task of the lender has an enclosing run already.
          let value = try await operation.run(isolation: nil, in: context, with: run.continuation)
          guard let other = run.end(task, with: { Outcome(success: value) }) else { return value }
          outcome = other
        } catch {
          let failure = Outcome(failure: error)
          outcome = run.end(task, with: { failure }) ?? failure
        }
      }
      return try outcome.get()
    }
  }

  /// What a caller gets.
  @usableFromInline
  enum Admission {
    /// A run that the caller can join.
    case existing(any AnyDeduplicatedRun)
    /// A run that does the same work, but waits for the caller. The names are those of the operations in the cycle.
    case cycle([String])
    /// A new run, for the caller to begin.
    case new(DeduplicatedRun<Operation>)
  }

  /// Finds a run that does the same work, or makes one.
  // Not async: the caller of an async function hops back to its executor afterwards, even if it never left it.
  @inlinable
  @inline(__always)
  func admission(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    isolation: (any Actor)?,
    _ isSameRun: (OperationContext, OperationContext) -> Bool
  ) -> Admission {
    while true {
      let (runs, additions) = self.state.withLock { ($0.runs, $0.additions) }
      if !runs.isEmpty, let match = self.match(for: context, among: runs, isSameRun) { return match }
      var added: DeduplicatedRun<Operation>?
      self.state.withLock { state in
        guard state.additions == additions else { return }
        // Made only when it is added.
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
      if let added { return .new(added) }
    }
  }

  /// Finds a run that a caller with `context` can join, or the cycle that such a run would close; nil for neither.
  ///
  /// Such a run does the same work, began after the last invalidation of the caller's store, and does not wait for the
  /// caller.
  @inlinable
  func match(
    for context: OperationContext,
    among runs: ContiguousArray<any AnyDeduplicatedRun>,
    _ isSameRun: (OperationContext, OperationContext) -> Bool
  ) -> Admission? {
    let lastInvalidation = context.lastInvalidation
    for run in runs where run.invalidation >= lastInvalidation && isSameRun(context, run.context) {
      guard let node = run.node else { continue }
      switch WaitGraph.noteAndFind(joining: node) {
      case .open: return .existing(run)
      case .queuedBehindCaller: continue
      case .recursion(let names):
        if OperationCycleError.isFailure(Operation.Failure.self) { return .cycle(names) }
        // The store that runs the operation may have reported the cycle.
        if context.taskLoan?.hasReportedCycle != true { OperationCycleError(operationNames: names).report() }
      }
    }
    return nil
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
  /// The number of runs that were ever added, by which concurrent additions are detected.
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

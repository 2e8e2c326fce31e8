public import OperationCore
public import Synchronization

/// The runs of one operation that are under way.
@usableFromInline
final class RunRegistry<Operation: OperationRequest & Sendable>: Sendable where Operation.Value: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  // Not generic: where the compiler does not know the types, arrays and locks of generic ones look these up.
  @usableFromInline let state = Mutex(RegisteredRuns())

  @inlinable
  init() {}

  /// Joins a run that does the same, or begins one, and waits for its outcome.
  @inlinable
  nonisolated(nonsending) func outcome(
    of operation: Operation,
    in context: OperationContext,
    with continuation: Continuation,
    isolation: (any Actor)?,
    isSameRun: (OperationContext, OperationContext) -> Bool
  ) async -> Result<Operation.Value, Operation.Failure> {
    while true {
      let (sharedRuns, additions) = self.state.withLock { ($0.sharedRuns, $0.additions) }
      if !sharedRuns.isEmpty {
        switch self.match(for: context, among: sharedRuns, isSameRun) {
        case .none: break
        case .shared(let same):
          let shared = unsafeDowncast(same, to: DeduplicatedRun<Operation>.self)
          if let outcome = await shared.join(in: context, with: continuation) { return outcome }
          self.remove(shared)
          continue
        case .refusal(let names): return OperationCircleError.outcome(names)
        }
      }
      var added: DeduplicatedRun<Operation>?
      self.state.withLock { state in
        guard state.additions == additions else { return }
        // Made here, so that each one that is made is begun, and ended: until then it and its run hold each other.
        let shared = DeduplicatedRun(
          operation: operation,
          context: context,
          isolation: isolation,
          registry: self,
          leader: continuation
        )
        state.add(shared)
        added = shared
      }
      guard let added else { continue }
      let outcome = await added.begin()
      // One that was cancelled before it began has not been taken out.
      if Task.isCancelled, !added.sharedRun.isAlive { self.remove(added) }
      return outcome
    }
  }

  @usableFromInline
  enum Match {
    case none
    case shared(any AnyDeduplicatedRun)
    /// The run that does the same waits for the caller, by way of these operations.
    case refusal([String])
  }

  /// The run that can serve a run: it does the same, no invalidation has come in between, and it does not wait for the run.
  @inlinable
  func match(
    for context: OperationContext,
    among sharedRuns: ContiguousArray<any AnyDeduplicatedRun>,
    _ isSameRun: (OperationContext, OperationContext) -> Bool
  ) -> Match {
    let lastInvalidation = context.lastInvalidation
    for sharedRun in sharedRuns
    where sharedRun.invalidation >= lastInvalidation && isSameRun(context, sharedRun.context) {
      switch WaitGraph.finding(joining: sharedRun.node) {
      case .open: return .shared(sharedRun)
      case .queuedBehindCaller: continue
      case .recursion(let names):
        if OperationCircleError.isFailure(Operation.Failure.self) { return .refusal(names) }
        // A store that runs the operation has looked as well.
        if context.taskLoan?.hasReportedCircle != true { OperationCircleError(operationNames: names).report() }
      }
    }
    return .none
  }

  @inlinable
  func remove(_ shared: DeduplicatedRun<Operation>) {
    self.state.withLock { $0.remove(shared) }
  }
}

/// The runs that a registry has.
@usableFromInline
struct RegisteredRuns: Sendable {
  @usableFromInline var sharedRuns: ContiguousArray<any AnyDeduplicatedRun> = []
  /// Counts the runs that have been added, to tell whether one has come since a look at them.
  @usableFromInline var additions = 0

  @inlinable
  init() {}

  @inlinable
  mutating func add(_ shared: any AnyDeduplicatedRun) {
    self.additions += 1
    self.sharedRuns.append(shared)
  }

  /// The caller holds it, so that nothing goes under the lock.
  @inlinable
  mutating func remove(_ shared: any AnyDeduplicatedRun) {
    if self.sharedRuns.count == 1, self.sharedRuns[0] === shared {
      self.sharedRuns.removeLast()
    } else {
      self.sharedRuns.removeAll { $0 === shared }
    }
  }
}

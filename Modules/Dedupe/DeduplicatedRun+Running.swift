public import OperationCore

extension DeduplicatedRun: RunDelegate {
  @inlinable
  package nonisolated(nonsending) func performWork(
    _ invocation: RunInvocation<DeduplicatedRun<Operation>>
  ) async -> Outcome {
    await self.perform(in: invocation.context)
  }

  /// Runs the operation in the current task, as the enclosing run of that task.
  @inlinable
  nonisolated(nonsending) func perform(in context: OperationContext) async -> Outcome {
    await EnclosingRun.perform(self) {
      await self.run(isolation: self.isolation, in: context)
    }
  }

  /// Passes what the work yields to all callers.
  @inlinable
  var continuation: Continuation { Continuation { result, context in self.yield(result, using: context) } }

  @inlinable
  nonisolated(nonsending) func run(isolation: (any Actor)?, in context: OperationContext) async -> Outcome {
    do throws(Operation.Failure) {
      return Outcome(success: try await self.operation.run(isolation: isolation, in: context, with: self.continuation))
    } catch {
      return Outcome(failure: error)
    }
  }

  @usableFromInline
  package func waits(of sharedRun: SharedRun<Operation.Value, Operation.Failure>) -> [WaitEdge] {
    let called = self.withState { $0.called }?.node
    // The body of the store's run is this run, so the runs that the store's run waits for first count for this one.
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
    with outcome: Outcome,
    isCancelled: Bool
  ) {
    self.registry.remove(self)
    self.removeAll()
  }
}

extension DeduplicatedRun: WaitingRun {
  @usableFromInline package var isInCurrentTask: Bool { self.makeSharedRunIfNeeded()?.isEndedByCurrentTask ?? false }

  @usableFromInline
  package func note(called node: any WaitNode) {
    let called = WeakNode(node)
    let replaced = self.withState { state in
      defer { state.called = called }
      return state.called
    }
    _ = consume replaced  // Released after unlocking.
  }
}

extension DeduplicatedRun: TaskBorrower {
  @usableFromInline package var node: (any WaitNode)? { self.makeSharedRunIfNeeded() }

  @usableFromInline
  package func lenderWasCancelled() {
    self.removeLeader()
    self.makeSharedRunIfNeeded()?.removeOwner()
  }
}

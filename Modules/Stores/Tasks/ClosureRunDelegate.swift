/// A delegate whose work is a closure.
final class ClosureRunDelegate: RunDelegate {
  private let work: @Sendable (OperationTaskIdentifier, OperationContext) async -> RunOutcome

  init(_ work: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async -> RunOutcome) {
    self.work = work
  }

  nonisolated(nonsending) func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    await self.work(invocation.sharedRun.id, invocation.context)
  }
}

/// A delegate whose work is a closure.
@usableFromInline
package final class ClosureRunDelegate<Success: Sendable, Failure: Error>: RunDelegate {
  @usableFromInline
  let work: @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Success

  @inlinable
  package init(_ work: @escaping @Sendable (OperationTaskIdentifier, OperationContext) async throws(Failure) -> Success)
  {
    self.work = work
  }

  @inlinable
  package nonisolated(nonsending) func performWork(
    _ invocation: RunInvocation<ClosureRunDelegate<Success, Failure>>
  ) async -> RunOutcome<Success, Failure> {
    do throws(Failure) {
      return RunOutcome(success: try await self.work(invocation.sharedRun.id, invocation.context))
    } catch {
      return RunOutcome(failure: error)
    }
  }
}

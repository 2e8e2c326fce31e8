/// What a ``SharedRun`` does, and who hears of its turns. All calls are made while no lock is held.
@usableFromInline
package protocol RunDelegate<Success, Failure>: AnyObject, Sendable {
  associatedtype Success: Sendable
  associatedtype Failure: Error

  /// The run is about to begin. Returns the task to run: its context may have been edited.
  func willStart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure>

  /// The run was cancelled before its work began, and will not do it, or before `willStart`. It has not finished.
  func didNotStart(_ sharedRun: SharedRun<Success, Failure>)

  /// What the run waits for, besides what its task was scheduled after.
  func waits(of sharedRun: SharedRun<Success, Failure>) -> [WaitEdge]

  /// The name of the operation that the run runs, if it does.
  var waitName: String? { get }

  /// Does the work. A run that was cancelled before it began comes here without `willStart` when its failure type
  /// has no room for a `CancellationError`.
  nonisolated(nonsending) func perform(_ invocation: RunInvocation<Self>) async -> Result<Success, Failure>

  /// The task of the run as it has started.
  func task(of sharedRun: SharedRun<Success, Failure>) -> OperationTask<Success, Failure>?

  /// The run was cancelled after it began and before it had an outcome.
  func wasCancelled(_ sharedRun: SharedRun<Success, Failure>)

  /// The run has an outcome, of which those who wait will hear when this returns.
  func didFinish(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: Result<Success, Failure>,
    isCancelled: Bool
  )
}

extension RunDelegate {
  @inlinable
  package func willStart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure> { task }

  @inlinable
  package func didNotStart(_ sharedRun: SharedRun<Success, Failure>) {}

  @usableFromInline
  package func waits(of sharedRun: SharedRun<Success, Failure>) -> [WaitEdge] { [] }

  @usableFromInline package var waitName: String? { nil }

  @inlinable
  package func task(of sharedRun: SharedRun<Success, Failure>) -> OperationTask<Success, Failure>? { nil }

  @inlinable
  package func wasCancelled(_ sharedRun: SharedRun<Success, Failure>) {}

  @inlinable
  package func didFinish(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: Result<Success, Failure>,
    isCancelled: Bool
  ) {}
}

/// Runs a closure.
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
  package nonisolated(nonsending) func perform(
    _ invocation: RunInvocation<ClosureRunDelegate<Success, Failure>>
  ) async -> Result<Success, Failure> {
    do throws(Failure) {
      return .success(try await self.work(invocation.sharedRun.id, invocation.context))
    } catch {
      return .failure(error)
    }
  }
}

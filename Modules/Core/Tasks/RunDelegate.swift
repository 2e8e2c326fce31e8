/// Does the work of a ``SharedRun`` and is notified when the run starts, finishes or is cancelled.
///
/// All methods are called while no lock is held.
@usableFromInline
package protocol RunDelegate<Success, Failure>: AnyObject, Sendable {
  associatedtype Success: Sendable
  associatedtype Failure: Error

  /// Called when the run starts, before its task is made. Returns the task, whose context may be edited.
  func willStart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure>

  /// Called when the run was cancelled before its work began, and before the run finishes.
  ///
  /// After a call of `willStart`, the run skips its work and finishes with `didFinish`. Without one, it skips its work
  /// and finishes without `didFinish`, unless its failure type cannot represent a `CancellationError`: `performWork`
  /// follows then.
  func wasCancelledBeforeWork(_ sharedRun: SharedRun<Success, Failure>)

  /// Returns what the run waits for, except for the tasks that its task was scheduled after.
  func waits(of sharedRun: SharedRun<Success, Failure>) -> [WaitEdge]

  /// The name of the operation; nil for a run without one.
  var waitName: String? { get }

  /// Does the work.
  ///
  /// A run that was cancelled before it started does its work without `willStart` if its failure type cannot represent
  /// a `CancellationError`.
  nonisolated(nonsending) func performWork(_ invocation: RunInvocation<Self>) async -> RunOutcome<Success, Failure>

  /// Called when the run was cancelled after it started and before it had an outcome.
  func wasCancelled(_ sharedRun: SharedRun<Success, Failure>)

  /// Called when the run has an outcome, which its waiters receive when this returns.
  func didFinish(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: RunOutcome<Success, Failure>,
    isCancelled: Bool
  )
}

extension RunDelegate {
  @inlinable
  package func willStart(_ task: consuming OperationTask<Success, Failure>) -> OperationTask<Success, Failure> { task }

  @inlinable
  package func wasCancelledBeforeWork(_ sharedRun: SharedRun<Success, Failure>) {}

  @usableFromInline
  package func waits(of sharedRun: SharedRun<Success, Failure>) -> [WaitEdge] { [] }

  @usableFromInline package var waitName: String? { nil }

  @inlinable
  package func wasCancelled(_ sharedRun: SharedRun<Success, Failure>) {}

  @inlinable
  package func didFinish(
    _ task: consuming OperationTask<Success, Failure>,
    with outcome: RunOutcome<Success, Failure>,
    isCancelled: Bool
  ) {}
}

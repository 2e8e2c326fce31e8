/// Does the work of a ``SharedRun`` and is notified when the run starts, finishes or is cancelled.
///
/// All methods are called while no lock is held.
package protocol RunDelegate: AnyObject, Sendable {
  /// Called when the run starts, before its task is made. Returns the task, whose context may be edited.
  func willStart(_ task: consuming ErasedTask) -> ErasedTask

  /// Called when the run was cancelled before its work began, and before the run finishes.
  ///
  /// After a call of `willStart`, the run skips its work and finishes with `didFinish`. Without one, it skips its work
  /// and finishes without `didFinish`, unless its failure type cannot represent a `CancellationError`: `performWork`
  /// follows then.
  func wasCancelledBeforeWork(_ sharedRun: SharedRun)

  /// Returns what the run waits for. What its task was scheduled after is not among it.
  func waits(of sharedRun: SharedRun) -> [WaitEdge]

  /// The name of the operation; nil for a run without one.
  var waitName: String? { get }

  /// Does the work.
  ///
  /// A run that was cancelled before it started does its work without `willStart` if its failure type cannot represent
  /// a `CancellationError`.
  nonisolated(nonsending) func performWork(_ invocation: RunInvocation) async -> RunOutcome

  /// Called when the work yields a result.
  func didYield(_ outcome: RunOutcome, of task: ErasedTask, using context: OperationContext?)

  /// Called when the run was cancelled after it started and before it had an outcome.
  func wasCancelled(_ sharedRun: SharedRun)

  /// Called when the run has an outcome, which its waiters receive when this returns.
  func didFinish(_ task: consuming ErasedTask, with outcome: RunOutcome, isCancelled: Bool)
}

extension RunDelegate {
  package func willStart(_ task: consuming ErasedTask) -> ErasedTask { task }

  package func wasCancelledBeforeWork(_ sharedRun: SharedRun) {}

  package func waits(of sharedRun: SharedRun) -> [WaitEdge] { [] }

  package var waitName: String? { nil }

  package func didYield(_ outcome: RunOutcome, of task: ErasedTask, using context: OperationContext?) {}

  package func wasCancelled(_ sharedRun: SharedRun) {}

  package func didFinish(_ task: consuming ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {}
}

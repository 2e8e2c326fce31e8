/// Does the work of a ``SharedRun``, and is notified of its start, its end and its cancellation.
///
/// All methods are called while no lock is held.
package protocol RunDelegate: AnyObject, Sendable {
  /// Called when the run starts, before its task is made. Returns the task, whose context may be edited.
  func willStart(_ task: consuming ErasedTask) -> ErasedTask

  /// Called when the run was cancelled before its work began, and before the run finishes.
  ///
  /// If `willStart` was called, the run skips its work and finishes with `didFinish`. Otherwise the run finishes
  /// without its work and without `didFinish`. But if its failure type cannot represent a `CancellationError`,
  /// `performWork` follows.
  func wasCancelledBeforeWork(_ sharedRun: SharedRun)

  /// Returns the waits of the run. Waits for tasks after which its task was scheduled are not included.
  func waits(of sharedRun: SharedRun) -> [WaitEdge]

  /// The name of the operation; nil for a run without one.
  var waitName: String? { get }

  /// Whether the tasks of runs have names, so that events can name a task that has called. False by default.
  var namesTasks: Bool { get }

  /// Does the work.
  ///
  /// If a run was cancelled before it started and its failure type cannot represent a `CancellationError`, it does its
  /// work without `willStart`.
  nonisolated(nonsending) func performWork(_ invocation: RunInvocation) async -> RunOutcome

  /// Called when the work yields a result.
  func didYield(_ outcome: RunOutcome, of task: ErasedTask, using context: OperationContext?)

  /// Called when the run was cancelled after it started and before it had an outcome.
  func wasCancelled(_ sharedRun: SharedRun)

  /// Called when the run has an outcome. Its waiters receive the outcome when this returns.
  func didFinish(_ task: consuming ErasedTask, with outcome: RunOutcome, isCancelled: Bool)
}

extension RunDelegate {
  package func willStart(_ task: consuming ErasedTask) -> ErasedTask { task }

  package func wasCancelledBeforeWork(_ sharedRun: SharedRun) {}

  package func waits(of sharedRun: SharedRun) -> [WaitEdge] { [] }

  package var waitName: String? { nil }

  package var namesTasks: Bool { false }

  package func didYield(_ outcome: RunOutcome, of task: ErasedTask, using context: OperationContext?) {}

  package func wasCancelled(_ sharedRun: SharedRun) {}

  package func didFinish(_ task: consuming ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {}
}

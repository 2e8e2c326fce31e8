internal import OperationCore

/// A call that waits for its turn, or runs.
final class PacedCall: Sendable {
  let path: OperationPath
  let run: OperationTaskIdentifier?
  private let store: StoreReference?
  /// Whether its turn has come.
  private let turn = AwaitedOutcome<Bool>()

  init(_ path: OperationPath, in context: OperationContext) {
    self.path = path
    self.run = context.operationRunningTaskIdentifier
    self.store = context.runningOperationStore?.reference
  }

  /// Waits until its turn.
  ///
  /// - Throws: `CancellationError` if it gives way, or is cancelled.
  nonisolated(nonsending) func wait(for duration: Duration, on deadlines: any DeadlineSource) async throws {
    let deadline = deadlines.schedule(after: duration) { self.turn.decide(true) }
    defer { deadline.cancel() }
    guard await self.turn.value(cancelled: false) else { throw CancellationError() }
  }

  /// Ends the wait, or the run that is under way for another path than the one of `call`.
  func giveWay(to call: PacedCall, isRunning: Bool) {
    if !isRunning { return self.turn.decide(false) }
    if call.path != self.path { _ = self.store?.store?.cancelRuns() }
  }
}

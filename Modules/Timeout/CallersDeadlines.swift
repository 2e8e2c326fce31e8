internal import OperationCore
internal import Synchronization

/// The deadlines of the callers that share the runs of a store whose operation has `.deadline()`.
///
/// A run ends at the latest of them. A caller with an earlier one leaves alone.
final class CallersDeadlines: StoreCallInterceptor {
  private let failure: @Sendable (OperationTimedOut) -> any Error
  /// The runs that are under way.
  private let runs = Mutex<[OperationTaskIdentifier: SharedDeadline]>([:])

  init<Failure: Error>(failure: @escaping @Sendable (OperationTimedOut) -> Failure) {
    self.failure = { failure($0) }
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    guard call.needsRun, call.context.operationRunSharing != nil else { return await call.proceed() }
    // The call joins a run or begins one at once. Only then is it known which.
    if let answer = await call.proceed(within: .zero) { return answer }
    guard let run = call.runContext?.operationRunningTaskIdentifier, let shared = self.deadline(of: run) else {
      return await call.proceed()
    }
    let deadline = call.context.operationDeadline
    shared.add(deadline)
    guard let deadline else { return await call.proceed() }
    let time = call.context.operationDeadlines.timeRemaining(until: deadline)
    if let answer = await call.proceed(within: time) { return answer }
    // Otherwise the run ends now, and modifiers around it may answer.
    guard shared.isLater(than: deadline) else { return await call.proceed() }
    let answer = call.answer(throwing: self.failure(OperationTimedOut(after: time)))
    if let answer { return answer }
    return await call.proceed()
  }

  private func deadline(of run: OperationTaskIdentifier) -> SharedDeadline? { self.runs.withLock { $0[run] } }

  /// Lets the deadline of a run follow its callers.
  struct RunWrapper: OperationRunWrapper {
    let callers: CallersDeadlines

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      _ body: (OperationContext) async -> (any Error)?
    ) async {
      // The caller of a runner shares its run with no other caller.
      guard let run = context.operationRunningTaskIdentifier, context.runningOperationStore != nil else {
        _ = await body(context)
        return
      }
      var context = context
      let shared = SharedDeadline(context.operationDeadline)
      context.shareDeadline(shared)
      self.callers.runs.withLock { $0[run] = shared }
      _ = await body(context)
      self.callers.runs.withLock { $0[run] = nil }
    }
  }
}

internal import OperationCore

/// Adds a call to the context of each run, and ends the call when the run has returned.
struct JournalRunWrapper: OperationRunWrapper {
  let scope: OperationPath?
  let isInsideScope: Bool

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> (any Error)?
  ) async {
    let call = JournalCall(
      run: context.operationRunningTaskIdentifier,
      scope: self.scope,
      isInsideScope: self.isInsideScope,
      isNested: context.journalCall != nil
    )
    var context = context
    context.journalCall = call
    await call.end(failing: await body(context), in: context)
  }
}

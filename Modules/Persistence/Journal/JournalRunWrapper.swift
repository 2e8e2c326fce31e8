internal import OperationCore

/// Adds a call to the context of each run, and ends the call when the run has returned.
struct JournalRunWrapper: OperationRunWrapper {
  let scope: OperationPath?
  let isInsideScope: Bool

  func run<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure> {
    let call = JournalCall(
      run: context.operationRunningTaskIdentifier,
      scope: self.scope,
      isInsideScope: self.isInsideScope,
      isNested: context.journalCall != nil
    )
    var context = context
    context.journalCall = call
    let outcome = await body(context)
    await call.end(with: outcome, in: context)
    return outcome
  }
}

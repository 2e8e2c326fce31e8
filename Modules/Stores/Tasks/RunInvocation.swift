/// A run, its context and its delegate in one object, so that the closures of a run capture one reference.
@usableFromInline
package final class RunInvocation: Sendable {
  package let sharedRun: SharedRun
  /// The context that the task started with.
  package let context: OperationContext
  let delegate: any RunDelegate

  init(_ sharedRun: SharedRun, _ context: consuming OperationContext, _ delegate: any RunDelegate) {
    self.sharedRun = sharedRun
    self.context = context
    self.delegate = delegate
  }

  package var task: ErasedTask { ErasedTask(sharedRun: self.sharedRun, context: self.context) }

  /// Passes a result that the operation yields to the delegate.
  @usableFromInline
  package func yield(_ outcome: RunOutcome, using context: OperationContext?) {
    self.delegate.didYield(outcome, of: self.task, using: context)
  }
}

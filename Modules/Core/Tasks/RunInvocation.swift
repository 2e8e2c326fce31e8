/// A run, its context and its delegate in one object, so that the closures of a run capture one reference.
@usableFromInline
package final class RunInvocation<Delegate: RunDelegate>: Sendable {
  @usableFromInline let sharedRun: SharedRun<Delegate.Success, Delegate.Failure>
  /// The context that the task started with.
  @usableFromInline package let context: OperationContext
  @usableFromInline let delegate: Delegate

  @inlinable
  init(
    _ sharedRun: SharedRun<Delegate.Success, Delegate.Failure>,
    _ context: consuming OperationContext,
    _ delegate: Delegate
  ) {
    self.sharedRun = sharedRun
    self.context = context
    self.delegate = delegate
  }

  @inlinable
  package var task: OperationTask<Delegate.Success, Delegate.Failure> {
    OperationTask(sharedRun: self.sharedRun, context: self.context)
  }
}

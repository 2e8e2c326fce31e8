/// A run, its context and its delegate: one object is all that the closures of a run have to keep.
@usableFromInline
package final class RunInvocation<Delegate: RunDelegate>: Sendable {
  @usableFromInline let sharedRun: SharedRun<Delegate.Success, Delegate.Failure>
  /// The context of the task as it has started.
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

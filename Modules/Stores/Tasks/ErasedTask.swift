/// An ``OperationTask`` without the types of its value and error, as runs and stores pass it on.
@usableFromInline
package struct ErasedTask: Sendable {
  /// The context that the run receives.
  package var context: OperationContext
  package let sharedRun: SharedRun

  package init(sharedRun: SharedRun, context: OperationContext) {
    self.sharedRun = sharedRun
    self.context = context
  }

  package var id: OperationTaskIdentifier { self.sharedRun.id }

  func cancel() {
    self.sharedRun.cancel()
  }
}

extension ErasedTask {
  /// Makes the task's context the context of its run.
  mutating func enterRun(of store: StoreReference) {
    self.context.enterRun(self.id, of: store, waits: self.sharedRun.waitsOfWork)
  }
}

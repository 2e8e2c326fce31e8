extension StoreRuntime {
  /// The context of a run: the store's, overlaid with the entries of `context`.
  func runContext(_ context: OperationContext?) -> OperationContext {
    if let context { self.overlaidContext(context) } else { self.context }
  }

  // Not inlined: most calls pass no context.
  @inline(never)
  private func overlaidContext(_ context: OperationContext) -> OperationContext {
    var merged = self.context.overlaid(with: context)
    // The origin of the present run does not apply to runs that its body makes.
    if let origin = context.run.origin, context.run.taskIdentifier == nil { merged.run.origin = origin }
    return merged
  }

  /// Makes a run, which other callers can join if the context has a rule for that.
  func makeRun(in context: OperationContext, ownerCount: Int = 0) -> SharedRun {
    SharedRun(
      delegate: self,
      failure: self.operation.failureType,
      isShared: context.operationRunSharing != nil,
      ownerCount: ownerCount
    )
  }

  /// Makes a task that has not started.
  func makeTask(using context: OperationContext?) -> ErasedTask {
    let context = self.runContext(context)
    return ErasedTask(sharedRun: self.makeRun(in: context), context: context)
  }
}

extension StoreRuntime {
  /// Runs the operation for subscribers with a stale value when the specification of its automatic running comes to hold.
  ///
  /// - Returns: Nil where the specification does not change, or nothing runs the operation unasked.
  func followAutomaticRunning(in context: OperationContext) -> OperationSubscription? {
    guard let specification = context.changingAutomaticRunningSpecification, self.operation.canRunUnasked else {
      return nil
    }
    return self.follow(specification)
  }

  private func follow(_ specification: some OperationRunSpecification & Sendable) -> OperationSubscription {
    specification.subscribeToRises(in: { self.context }, onRise: { self.rerunIfStale() })
  }
}

extension OperationContext {
  /// The specification of automatic running; nil where there is none, or it never changes.
  var changingAutomaticRunningSpecification: (any OperationRunSpecification & Sendable)? {
    guard self.isAutomaticRunningConfigured else { return nil }
    var specification = self.automaticRunningSpecification
    while let erased = specification as? AnySendableRunSpecification { specification = erased.base }
    return specification is AlwaysRunSpecification ? nil : specification
  }
}

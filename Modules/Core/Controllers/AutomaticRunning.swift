extension StoreRuntime {
  /// Reruns a stale operation for its subscribers when the specification of its automatic running becomes satisfied.
  ///
  /// - Returns: Nil when the specification never changes, or when the operation never runs automatically.
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
  /// The specification of automatic running; nil when none is set or when it never changes.
  var changingAutomaticRunningSpecification: (any OperationRunSpecification & Sendable)? {
    guard self.isAutomaticRunningConfigured else { return nil }
    var specification = self.automaticRunningSpecification
    while let erased = specification as? AnySendableRunSpecification { specification = erased.base }
    return specification is AlwaysRunSpecification ? nil : specification
  }
}

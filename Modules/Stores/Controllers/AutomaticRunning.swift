extension OperationContext {
  /// The specification of automatic running; nil when none is set, or when it never changes.
  var changingAutomaticRunningSpecification: (any OperationRunSpecification & Sendable)? {
    guard self.isAutomaticRunningConfigured else { return nil }
    var specification = self.automaticRunningSpecification
    while let erased = specification as? AnySendableRunSpecification { specification = erased.base }
    return specification is AlwaysRunSpecification ? nil : specification
  }
}

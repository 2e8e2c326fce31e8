/// An observer that knows the tags of values, by which an invalidation names values wherever they are.
package protocol ValueTagging: StoreObserver {
  /// The tags of the value of a state, each as a path: its name, and its identifier if it has one.
  ///
  /// Called with no lock held. It may call closures of the user.
  func tags<State: OperationState & Sendable>(of state: State) -> [OperationPath]
}

extension OperationContext {
  /// What knows the tags of the operation's values; nil for values without tags.
  var valueTagging: (any ValueTagging)? {
    for case let tagging as any ValueTagging in self.operationObservers { return tagging }
    return nil
  }
}

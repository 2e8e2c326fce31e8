package import OperationCore

/// Is notified when the body of a mutation, without its modifiers, begins and ends in a run.
package protocol MutationBodyObserver: AnyObject, Sendable {
  /// Whether the bodies of a run are observed. A mutation that is called inside the body has another run.
  func observes(_ run: OperationTaskIdentifier?) -> Bool

  /// Called before a body begins, which it may delay.
  ///
  /// - Parameter mayRefuse: Whether the run can end without the body.
  /// - Returns: Whether the body begins; false only if it may be refused.
  nonisolated(nonsending) func bodyWillBegin(mayRefuse: Bool) async -> Bool

  /// Called when a body that has begun has returned or has thrown an error.
  nonisolated(nonsending) func bodyDidEnd(isSuccess: Bool) async
}

extension OperationContext {
  /// The observer of the body of the mutation; nil by default.
  package var mutationBodyObserver: (any MutationBodyObserver)? {
    get { self[MutationBodyObserverKey.self] }
    set { self[MutationBodyObserverKey.self] = newValue }
  }

  private enum MutationBodyObserverKey: Key {
    static let defaultValue: (any MutationBodyObserver)? = nil
  }
}

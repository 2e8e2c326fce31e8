/// An object attached to a client that holds data of a user, which a client forgets as a whole.
///
/// ``OperationClient/clearEverything(within:switching:)`` calls it after the stores were removed and emptied, and before
/// anything new runs. An object that is attached only when it is first used is attached with the context of the client by
/// ``OperationContext/addClearing(of:attach:)``.
public protocol OperationClientClearing: AnyObject, Sendable {
  /// What is left if ``clear()`` does not return in time.
  var remainingUntilCleared: [ClearingError.Remaining] { get }

  /// Removes what the object holds, also in a storage or in other processes, so that none of it comes back.
  ///
  /// Called in a task of its own, which begins on the thread of the caller and is cancelled when the time is over. Until
  /// its first suspension, no store of the client is being restored: what is removed up to then is not shown by a store
  /// that is made meanwhile.
  ///
  /// - Returns: What is left; empty if everything was removed.
  nonisolated(nonsending) func clear() async -> [ClearingError.Remaining]
}

extension OperationContext {
  /// Adds what attaches an object to the client that gets this context as its ``OperationClient/defaultContext``.
  ///
  /// A module calls it when the context gets something that outlives the process, such as a storage: a client that has
  /// not used it yet must clear it all the same, and tell it of invalidations.
  ///
  /// - Parameters:
  ///   - type: The type of the object. Adding it again replaces the closure.
  ///   - attach: Attaches the object, unless it is attached. Called with no lock held.
  public mutating func addClearing<Object: OperationClientClearing>(
    of type: Object.Type,
    attach: @escaping @Sendable (OperationClient) -> Void
  ) {
    self[ClearingsKey.self][ObjectIdentifier(type)] = attach
  }

  /// Attaches to a client what its clearing needs.
  func attachClearings(to client: OperationClient) {
    for attach in self[ClearingsKey.self].values { attach(client) }
  }

  private enum ClearingsKey: Key {
    static let defaultValue: [ObjectIdentifier: @Sendable (OperationClient) -> Void] = [:]
  }
}

extension OperationClient {
  var clearings: [any OperationClientClearing] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any OperationClientClearing }
  }
}

/// The restoration of one store's state from a storage, which may take time.
///
/// A modifier that restores states puts one in the context of each store: see
/// ``OperationContext/operationRestoration``.
public protocol OperationRestoration: Sendable {
  /// Whether the state is still being read. The snapshot of the client shows it.
  var isRestoring: Bool { get }

  /// Called before the store is reset. A state that is read after this must not be put into the store.
  ///
  /// Called with no lock held, on the thread that resets.
  func storeWillReset()

  /// Called after the store was invalidated. The stored value is stale from now on, whatever its date.
  ///
  /// Called with no lock held.
  func storeWasInvalidated()
}

extension OperationContext {
  /// The restoration of the store's state; nil for a store whose state is not restored.
  public var operationRestoration: (any OperationRestoration)? {
    get { self[RestorationKey.self] }
    set { self[RestorationKey.self] = newValue }
  }

  private enum RestorationKey: Key {
    static let defaultValue: (any OperationRestoration)? = nil
  }
}

/// The restoration of one store's state from a storage, which may take time.
///
/// A modifier that restores states puts one in the context of each store: see
/// ``OperationContext/operationRestoration``.
public protocol OperationRestoration: Sendable {
  /// Whether the state is still being read. The snapshot of the client shows it.
  var isRestoring: Bool { get }

  /// Waits until the state was read, at most for as long as that may take, or until the task is cancelled.
  ///
  /// A reader who needs no run if the stored value is fresh calls it before it decides.
  nonisolated(nonsending) func restored() async

  /// Called before the store is reset. A state that is read after this must not be put into the store.
  ///
  /// Called with no lock held, on the thread that resets.
  func storeWillReset()

  /// Called after the store was invalidated. The stored value is stale from now on, whatever its date.
  ///
  /// Called with no lock held.
  func storeWasInvalidated()
}

extension StoreRuntime {
  /// Waits until the stored value was read, at most for as long as that may take.
  ///
  /// - Returns: Whether it had to wait: what was known of the state before may be wrong.
  nonisolated(nonsending) func restored() async -> Bool {
    guard let restoration = self.context.operationRestoration, restoration.isRestoring else { return false }
    await restoration.restored()
    return true
  }
}

extension OperationStore {
  /// Waits until the stored value was read, at most for as long as that may take, or until the task is cancelled.
  ///
  /// - Returns: Whether it had to wait, so that the state may have changed.
  @discardableResult
  public nonisolated(nonsending) func restored() async -> Bool { await self.runtime.restored() }
}

extension StoreCall {
  /// Waits until the stored value of the store was read, at most for as long as that may take, or until the task is
  /// cancelled. An interceptor calls it before it looks for a value in the state.
  public nonisolated(nonsending) func stateWasRestored() async { _ = await self.runtime.restored() }
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

extension OperationClient {
  /// Decides which idle stores a client lets go, and when.
  ///
  /// A store is idle when nobody subscribes and nothing runs; a store is idle when it is made. The client calls from any
  /// thread, one call at a time for each client, and never while a lock is held.
  public protocol StoreCache: Sendable {
    /// A store has become idle: it may be evicted from now on.
    func storeDidBecomeIdle(_ store: IdleStore)

    /// A store is in use again, or gone from its client.
    func storeDidBecomeActive(_ id: IdleStore.ID)
  }
}

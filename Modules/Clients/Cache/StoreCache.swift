public import OperationFoundation

extension OperationClient {
  /// Decides which idle stores a client evicts, and when.
  ///
  /// A store is idle while it has no subscribers and no runs; a new store is idle. A client calls its cache from any
  /// thread, one call at a time, and never with a lock held. Clients that share a cache may call it at the same time.
  public protocol StoreCache: Sendable {
    /// Called when a store has become idle. It may be evicted from now on.
    func storeDidBecomeIdle(_ store: IdleStore)

    /// Called when a store is in use again or has been removed from its client.
    func storeDidBecomeActive(_ id: IdleStore.ID)

    /// Returns when the cache evicts a store that stays idle; nil, the default, if it does not know.
    ///
    /// Inspections of the store ask, from any thread and with no lock held, also while another method is being called.
    /// The store may not be idle any more.
    ///
    /// - Parameter store: A store that was idle when it was read.
    /// - Returns: The date by the ``OperationClock`` of the store's context, which the inspection shows.
    func evictionDate(of store: IdleStore) -> Date?
  }
}

extension OperationClient.StoreCache {
  public func evictionDate(of store: OperationClient.IdleStore) -> Date? { nil }
}

internal import OperationFoundation

/// The entry of a store in a client.
///
/// The runtime of the store also refers to it, which avoids look-ups by path. While the entry is in the client, the
/// entry and the runtime hold each other.
final class StoreEntry: IdleNode, StoreMembership, @unchecked Sendable {
  // Unchecked like its base class. The lock of the client guards the variables.
  let client: StoreEntryClient
  let runtime: StoreRuntime
  /// The store; nil after eviction, while only other owners hold the store, and after removal.
  var store: (any AnyObject & Sendable)?
  /// Whether the entry is still in the client.
  private(set) var isInClient = true
  /// Whether the cache may evict the store.
  var isIdle: Bool
  /// The sequence number of the last idleness check.
  var idlenessReading: UInt32 = 0

  init(client: StoreEntryClient, runtime: StoreRuntime, store: any AnyObject & Sendable, isIdle: Bool) {
    self.client = client
    self.runtime = runtime
    self.store = store
    self.isIdle = isIdle
  }

  override var idleStore: OperationClient.IdleStore { OperationClient.IdleStore(entry: self) }

  /// Whether a check is newer than the last one. Sequence numbers may wrap around.
  func isOutdated(by reading: UInt32) -> Bool {
    Int32(bitPattern: reading &- self.idlenessReading) > 0
  }

  package var evictionDate: Date? { self.client.storage?.cache.evictionDate(of: self.idleStore) }

  package func accept(readingsAfter reading: UInt32) { self.idlenessReading = reading }

  package func idlenessChanged(to idleness: StoreIdleness) {
    self.client.storage?.idlenessChanged(of: self, to: idleness)
  }

  package func storeIsGone() {
    self.client.storage?.storeIsGone(self)
  }

  /// Marks the entry as removed, and detaches it from its runtime.
  ///
  /// - Parameter isOver: Whether the client has removed the store on demand. A store that is dropped because it is idle
  ///   has no other owner, and is not over.
  /// - Returns: The store that the entry held.
  func end(isOver: Bool = false) -> (any AnyObject & Sendable)? {
    self.isInClient = false
    self.isIdle = false
    self.runtime.leave(self, isOver: isOver)
    return self.store.take()
  }
}

/// A weak reference to a client, shared by the entries of its stores.
final class StoreEntryClient: Sendable {
  weak let storage: ClientStorage?
  /// The cache if it is a ``OperationClient/DefaultStoreCache``, which links the entries into its queues; nil
  /// otherwise.
  let cache: ObjectIdentifier?

  init(_ storage: ClientStorage, cache: any OperationClient.StoreCache) {
    self.storage = storage
    self.cache = (cache as? OperationClient.DefaultStoreCache).map { ObjectIdentifier($0) }
  }
}

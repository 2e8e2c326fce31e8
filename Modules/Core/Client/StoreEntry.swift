/// The entry of a store in a client.
///
/// The runtime of the store also refers to it, which avoids look-ups by path. While the entry is in the client, the
/// entry and the runtime hold each other.
@usableFromInline
final class StoreEntry: IdleNode, @unchecked Sendable {
  // Unchecked like its base class. The fields below are immutable or guarded by the lock of the client.
  let client: StoreEntryClient
  let runtime: any ErasedRuntime
  /// The store; nil after eviction, while only other owners hold the store, and after removal.
  @exclusivity(unchecked) var store: (any AnyObject & Sendable)?
  // `isIdle`, `isInClient` and `idlenessReading` in one word, because each store has an entry.
  @exclusivity(unchecked) private var bits: UInt64

  init(client: StoreEntryClient, runtime: any ErasedRuntime, store: any AnyObject & Sendable, isIdle: Bool) {
    self.client = client
    self.runtime = runtime
    self.store = store
    self.bits = isIdle ? 0b11 : 0b10
  }

  override var idleStore: OperationClient.IdleStore { OperationClient.IdleStore(entry: self) }

  /// Whether the entry is still in the client.
  var isInClient: Bool { self.bits & 0b10 != 0 }

  /// Whether the cache may evict the store.
  var isIdle: Bool {
    get { self.bits & 0b1 != 0 }
    set { self.bits = self.bits & ~0b1 | (newValue ? 0b1 : 0) }
  }

  /// The sequence number of the last idleness check.
  var idlenessReading: UInt32 {
    get { UInt32(truncatingIfNeeded: self.bits >> 2) }
    set { self.bits = UInt64(newValue) << 2 | self.bits & 0b11 }
  }

  /// Whether a check is newer than the last one. Sequence numbers may wrap around.
  func isOutdated(by reading: UInt32) -> Bool {
    Int32(bitPattern: reading &- self.idlenessReading) > 0
  }

  /// Marks the entry as removed, detaches it from its runtime, and returns the store that it held.
  func end() -> (any AnyObject & Sendable)? {
    self.bits &= ~0b11
    self.runtime.leave(self)
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

extension StoreEntry {
  /// Informs the client that the store has become idle or is in use again.
  func idlenessChanged(to idleness: StoreIdleness) {
    self.client.storage?.idlenessChanged(of: self, to: idleness)
  }

  /// Informs the client that the store is deallocated.
  func storeIsGone() {
    self.client.storage?.storeIsGone(self)
  }
}

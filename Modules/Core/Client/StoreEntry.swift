/// What a client keeps of a store, in one object to which the store refers as well, so that nobody looks for it by path.
///
/// While it is kept, the entry and the runtime hold each other.
@usableFromInline
final class StoreEntry: IdleNode, @unchecked Sendable {
  // Unchecked as its base class is; what it adds is immutable, or touched by whoever holds the lock of the client.
  let client: StoreEntryClient
  let runtime: any ErasedRuntime
  /// The store; nil once the cache has let it go, after which it is there while somebody else holds it, and in the end.
  @exclusivity(unchecked) var store: (any AnyObject & Sendable)?
  // Three in one word, as there is an entry for each store.
  @exclusivity(unchecked) private var bits: UInt64

  init(client: StoreEntryClient, runtime: any ErasedRuntime, store: any AnyObject & Sendable, isIdle: Bool) {
    self.client = client
    self.runtime = runtime
    self.store = store
    self.bits = isIdle ? 0b11 : 0b10
  }

  override var idleStore: OperationClient.IdleStore { OperationClient.IdleStore(entry: self) }

  /// Whether the client still keeps it.
  var isInClient: Bool { self.bits & 0b10 != 0 }

  /// Whether the cache may let the store go.
  var isIdle: Bool {
    get { self.bits & 0b1 != 0 }
    set { self.bits = self.bits & ~0b1 | (newValue ? 0b1 : 0) }
  }

  /// The number of the last look at whether the store is idle.
  var idlenessReading: UInt32 {
    get { UInt32(truncatingIfNeeded: self.bits >> 2) }
    set { self.bits = UInt64(newValue) << 2 | self.bits & 0b11 }
  }

  /// Whether a look was later than the last one, though the numbers start again after the greatest.
  func isOutdated(by reading: UInt32) -> Bool {
    Int32(bitPattern: reading &- self.idlenessReading) > 0
  }

  /// The client keeps it no more. Returns what it has held.
  func end() -> (any AnyObject & Sendable)? {
    self.bits &= ~0b11
    self.runtime.leave(self)
    return self.store.take()
  }
}

/// A client as the entries of its stores refer to it: without keeping it alive.
final class StoreEntryClient: Sendable {
  weak let storage: ClientStorage?
  /// The cache, if it is one whose queues go through the entries.
  let cache: ObjectIdentifier?

  init(_ storage: ClientStorage, cache: any OperationClient.StoreCache) {
    self.storage = storage
    self.cache = (cache as? OperationClient.DefaultStoreCache).map { ObjectIdentifier($0) }
  }
}

extension StoreEntry {
  /// The store has become idle, or stopped being so.
  func idlenessChanged(to idleness: StoreIdleness) {
    self.client.storage?.idlenessChanged(of: self, to: idleness)
  }

  /// The store is gone.
  func storeIsGone() {
    self.client.storage?.storeIsGone(self)
  }
}

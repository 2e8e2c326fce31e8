internal import Synchronization

/// A ``StoreRuntime`` with the type of its state erased, as the client uses it.
protocol ErasedRuntime: AnyObject, Sendable {
  var path: OperationPath { get }
  var context: OperationContext { get set }
  var isStale: Bool { get }
  var isLoading: Bool { get }
  var isAutomaticRunningEnabled: Bool { get }
  var allowsAutomaticRuns: Bool { get }
  var subscriberCount: Int { get }
  var unmodifiedOperationType: any OperationRequest.Type { get }
  var operationName: String { get }
  /// The path, the state and the number of subscribers in one line.
  var summary: String { get }
  /// The store; nil when it no longer exists.
  var erasedStore: (any AnyObject & Sendable)? { get }
  /// Erases the type of `store`, which must be a store of this runtime.
  func opaque(_ store: any AnyObject & Sendable) -> OpaqueOperationStore
  /// Creates another store with this runtime, in place of a store that no longer exists.
  func makeStandIn() -> any AnyObject & Sendable

  /// Checks whether the store is idle, and numbers the check.
  func readIdleness() -> StoreIdleness
  /// Stores the entry of the client that keeps the store.
  func keep(_ entry: StoreEntry)
  /// Removes the entry when the client no longer keeps the store.
  func leave(_ entry: StoreEntry)
  /// Gives the runs of the subscribers up, and notifies the subscribers that the client has removed the store.
  func wasRemovedFromClient()
  func reset(using context: OperationContext?)
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R
  func invalidate() -> Int
  func rerunAfterInvalidation(isEnqueued: Bool)
  func settled(afterInvalidation number: Int) async
  func settled() async
  func cancelRuns() -> @Sendable () async -> Void
  func snapshot() -> OperationClientSnapshot.Store
}

extension StoreRuntime: ErasedRuntime {
  var unmodifiedOperationType: any OperationRequest.Type { self.operation.unmodifiedType }

  var operationName: String { self.operation.operationName }

  var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  var erasedStore: (any AnyObject & Sendable)? { self.reference.store }

  func opaque(_ store: any AnyObject & Sendable) -> OpaqueOperationStore {
    // A runtime has stores of its own state only.
    OpaqueOperationStore(erasing: unsafeDowncast(store, to: OperationStore<State>.self))
  }

  func makeStandIn() -> any AnyObject & Sendable { OperationStore(runtime: self) }

  var isLoading: Bool { self.machine.withLock { $0.state.isLoading } }

  func keep(_ entry: StoreEntry) {
    // One less than the last number: the client may still receive the result of that check, and has to accept it.
    entry.idlenessReading = self.idlenessReadings.load(ordering: .relaxed) &- 1
    let previous = self.entryLock.withLock { _ in
      defer { self.links.entry = entry }
      return self.links.entry.take()
    }
    self.isInClient.store(true, ordering: .releasing)
    _ = consume previous  // Released after unlocking.
  }

  func leave(_ entry: StoreEntry) {
    self.entryLock.withLock { _ in
      // The caller has a reference to the entry, so it is not destroyed under the lock.
      if self.links.entry === entry { self.links.entry = nil }
    }
  }
}

/// A store whose state can have any type.
protocol ErasableStore {
  var erasedRuntime: any ErasedRuntime { get }
  var stateType: any Any.Type { get }
}

extension OperationStore: ErasableStore {
  var erasedRuntime: any ErasedRuntime { self.runtime }
  var stateType: any Any.Type { State.self }
}

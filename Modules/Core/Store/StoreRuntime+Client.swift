internal import Synchronization

// The members of a store's runtime that a client uses.
extension StoreRuntime {
  var unmodifiedOperationType: any OperationRequest.Type { self.operation.unmodifiedType }

  var operationName: String { self.operation.operationName }

  var allowsAutomaticRuns: Bool { self.operation.allowsAutomaticRuns }

  /// The store; nil when it no longer exists.
  var store: (any AnyObject & Sendable)? { self.reference.typedStore }

  /// Creates another store with this runtime, in place of a store that no longer exists.
  func makeStandIn() -> any AnyObject & Sendable {
    let state = self.stateWithoutLayers
    return type(of: state).makeStore(of: self)
  }

  var isLoading: Bool { self.withMachine { $0.state.isLoading } }

  /// Stores the entry of the client that keeps the store.
  func keep(_ entry: StoreEntry) {
    // The number is one less than the last: the client may still receive the result of that check, and must accept it.
    entry.idlenessReading = self.idlenessReadings.load(ordering: .relaxed) &- 1
    let previous = self.entryLock.withLock { _ in
      defer { self.links.entry = entry }
      return self.links.entry.take()
    }
    self.isInClient.store(true, ordering: .releasing)
    _ = consume previous  // Released after unlocking.
  }

  /// Removes the entry when the client no longer keeps the store.
  ///
  /// - Parameters:
  ///   - entry: The entry of the client.
  ///   - isOver: Whether the client has removed the store, so that it is over, unless another client has it.
  func leave(_ entry: StoreEntry, isOver: Bool) {
    self.entryLock.withLock { _ in
      guard self.links.entry === entry else { return }
      // The caller has a reference to the entry, so it is not destroyed under the lock.
      self.links.entry = nil
      if isOver { self.markOver() }
    }
  }
}

internal import OperationCore

/// The stores that show the calls of a journal.
struct ShowingStores: Sendable {
  struct Store: Sendable {
    weak var value: (any JournalShowing)?
  }

  var stores: [ObjectIdentifier: Store] = [:]
}

extension MutationJournal {
  /// Shows the calls in a store.
  func add(_ store: any JournalShowing) {
    self.showingStores.withLock { $0.stores[ObjectIdentifier(store)] = ShowingStores.Store(value: store) }
    self.change { $0.watch(store.names, in: ObjectIdentifier(store)) }
  }

  func remove(_ store: any JournalShowing) {
    self.showingStores.withLock { _ = $0.stores.removeValue(forKey: ObjectIdentifier(store)) }
  }

  /// Passes what has changed on to the stores, in order.
  ///
  /// One thread at a time does, so that what a store shows last is true.
  ///
  /// - Returns: The signals of those who may continue now, also of changes that other threads have made meanwhile.
  func notifyStores() -> [AwaitedOutcome<Void>] {
    var isNext = false
    var signals: [AwaitedOutcome<Void>] = []
    while let changes = self.state.withLock({ $0.takeStoreChanges(isNext: isNext) }) {
      isNext = true
      let stores = self.showingStores.withLock { $0.stores.values.compactMap(\.value) }
      for store in stores {
        if let calls = changes.calls(for: store) { store.show(calls, of: self) }
      }
      signals += changes.signals
    }
    return signals
  }
}

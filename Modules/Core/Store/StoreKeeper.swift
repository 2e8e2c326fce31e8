/// Keeps stores by path, and lets go of the idle ones: a client, as its stores see it.
protocol StoreKeeper: AnyObject, Sendable {
  /// Whether the store is idle may have changed.
  func idlenessChanged(of entry: StoreEntryIdentifier, at path: OperationPath)

  /// The store is gone.
  func storeIsGone(_ entry: StoreEntryIdentifier, at path: OperationPath)
}

/// Names one store among all that a client has ever kept.
typealias StoreEntryIdentifier = UInt64

/// A store's way back to its keeper, which it does not keep alive.
struct StoreKeeperReference: Sendable {
  weak var keeper: (any StoreKeeper)?
  var entry: StoreEntryIdentifier = 0
  var path = OperationPath()

  func idlenessChanged() {
    self.keeper?.idlenessChanged(of: self.entry, at: self.path)
  }

  func storeIsGone() {
    self.keeper?.storeIsGone(self.entry, at: self.path)
  }
}

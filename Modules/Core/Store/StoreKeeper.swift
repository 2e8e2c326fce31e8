/// Keeps stores by path, and lets go of the idle ones: a client, as its stores see it.
@usableFromInline
protocol StoreKeeper: AnyObject, Sendable {
  /// Whether the store is idle may have changed.
  func idlenessChanged(of entry: StoreEntryIdentifier, at path: OperationPath)

  /// The store is gone.
  func storeIsGone(_ entry: StoreEntryIdentifier, at path: OperationPath)
}

/// Names one store among all that a client has ever kept.
@usableFromInline typealias StoreEntryIdentifier = UInt64

/// A store's way back to its keeper, which it does not keep alive.
@usableFromInline
struct StoreKeeperReference: Sendable {
  @usableFromInline weak var keeper: (any StoreKeeper)?
  @usableFromInline var entry: StoreEntryIdentifier = 0

  @usableFromInline
  init() {}

  init(keeper: any StoreKeeper, entry: StoreEntryIdentifier) {
    self.keeper = keeper
    self.entry = entry
  }

  @usableFromInline
  func idlenessChanged(at path: OperationPath) {
    self.keeper?.idlenessChanged(of: self.entry, at: path)
  }

  @usableFromInline
  func storeIsGone(at path: OperationPath) {
    self.keeper?.storeIsGone(self.entry, at: path)
  }
}

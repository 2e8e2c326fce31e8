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

/// A keeper as all its stores refer to it: without keeping it alive.
@usableFromInline
final class WeakStoreKeeper: Sendable {
  weak let keeper: (any StoreKeeper)?

  init(_ keeper: any StoreKeeper) {
    self.keeper = keeper
  }
}

/// A store's way back to its keeper.
@usableFromInline
struct StoreKeeperReference: Sendable {
  @usableFromInline var keeper: WeakStoreKeeper?
  @usableFromInline var entry: StoreEntryIdentifier = 0

  @inlinable
  init() {}

  init(keeper: WeakStoreKeeper, entry: StoreEntryIdentifier) {
    self.keeper = keeper
    self.entry = entry
  }

  func idlenessChanged(at path: OperationPath) {
    self.keeper?.keeper?.idlenessChanged(of: self.entry, at: path)
  }

  func storeIsGone(at path: OperationPath) {
    self.keeper?.keeper?.storeIsGone(self.entry, at: path)
  }
}

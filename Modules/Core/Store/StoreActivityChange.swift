/// Who is to know of a change of what a store does.
@usableFromInline
struct StoreActivityChange: Sendable {
  /// For the client, if there is one and the store has become idle or stopped being so.
  @usableFromInline let idleness: StoreIdleness?
  @usableFromInline let observers: [@Sendable () -> Void]

  @inlinable
  init(idleness: StoreIdleness?, observers: [@Sendable () -> Void]) {
    self.idleness = idleness
    self.observers = observers
  }
}

/// A look at whether a store is idle.
@usableFromInline
struct StoreIdleness: Sendable {
  @usableFromInline let isIdle: Bool
  /// The number of the look, which comes after those of earlier ones.
  @usableFromInline let reading: UInt32

  @inlinable
  init(isIdle: Bool, reading: UInt32) {
    self.isIdle = isIdle
    self.reading = reading
  }
}

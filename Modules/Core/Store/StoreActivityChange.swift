/// The notifications that are due when the activity of a store has changed.
@usableFromInline
struct StoreActivityChange: Sendable {
  /// The reading to pass to the client; nil when no client keeps the store, or idleness has not changed.
  @usableFromInline let idleness: StoreIdleness?
  /// The observers to call.
  @usableFromInline let observers: [@Sendable () -> Void]

  @inlinable
  init(idleness: StoreIdleness?, observers: [@Sendable () -> Void]) {
    self.idleness = idleness
    self.observers = observers
  }
}

/// A numbered reading of whether a store is idle: without subscribers and without runs.
@usableFromInline
struct StoreIdleness: Sendable {
  @usableFromInline let isIdle: Bool
  /// The number of the reading. Later readings have greater numbers, which wrap around.
  @usableFromInline let reading: UInt32

  @inlinable
  init(isIdle: Bool, reading: UInt32) {
    self.isIdle = isIdle
    self.reading = reading
  }
}

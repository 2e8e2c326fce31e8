/// The notifications that are due when the activity of a store has changed.
@usableFromInline
struct StoreActivityChange: Sendable {
  /// The idleness to pass to the client; nil when no client keeps the store, or idleness has not changed.
  @usableFromInline let idleness: StoreIdleness?
  /// The observers to call.
  @usableFromInline let observers: [@Sendable () -> Void]

  @inlinable
  init(idleness: StoreIdleness?, observers: [@Sendable () -> Void]) {
    self.idleness = idleness
    self.observers = observers
  }
}

/// The result of an idleness check. A store is idle while it has no subscribers and no runs.
@usableFromInline
struct StoreIdleness: Sendable {
  @usableFromInline let isIdle: Bool
  /// The sequence number of the check. Later checks have greater numbers, which wrap around.
  @usableFromInline let reading: UInt32

  @inlinable
  init(isIdle: Bool, reading: UInt32) {
    self.isIdle = isIdle
    self.reading = reading
  }
}

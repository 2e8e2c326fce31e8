/// The notifications that are due when the activity of a store has changed.
struct StoreActivityChange: Sendable {
  /// The idleness to pass to the client; nil when no client keeps the store, or idleness has not changed.
  let idleness: StoreIdleness?
  /// The observers to call.
  let observers: [@Sendable () -> Void]
}

/// The result of an idleness check. A store is idle while it has no subscribers and no runs.
package struct StoreIdleness: Sendable {
  package let isIdle: Bool
  /// The sequence number of the check. Later checks have greater numbers, which wrap around.
  package let reading: UInt32
}

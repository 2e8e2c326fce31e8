/// Stores that have come to a client and that have gone.
struct ClientChange: Sendable {
  var added: [StoreHandle] = []
  var removed: [StoreHandle] = []
  /// The last watcher that was there by then.
  var lastWatcherID: UInt64 = 0

  var isEmpty: Bool { self.added.isEmpty && self.removed.isEmpty }
}

/// Stores added to a client and stores removed from it.
struct ClientChange: Sendable {
  var added: [StoreHandle] = []
  var removed: [StoreHandle] = []
  /// The identifier of the newest watcher when the change was made. Later watchers do not receive it.
  var lastWatcherID: UInt64 = 0

  var isEmpty: Bool { self.added.isEmpty && self.removed.isEmpty }
}

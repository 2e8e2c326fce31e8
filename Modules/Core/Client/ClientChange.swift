/// Stores added to a client and stores removed from it.
struct ClientChange: Sendable {
  var added: [StoreHandle] = []
  var removed: [StoreHandle] = []
  /// Whether the stores were removed because they were idle.
  var isEviction = false
  /// Why the stores were removed; nil while nobody reads events or explanations.
  var cause: OperationRunCause?
  /// The identifier of the newest watcher when the change was made. Later watchers do not receive it.
  var lastWatcherID: UInt64 = 0

  var isEmpty: Bool { self.added.isEmpty && self.removed.isEmpty }
}

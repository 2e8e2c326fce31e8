internal import Synchronization

/// A store that a client keeps.
@usableFromInline
struct KeptStore: Sendable {
  let runtime: any ErasedRuntime
  @usableFromInline let store: any AnyObject & Sendable

  init(runtime: any ErasedRuntime, store: any AnyObject & Sendable) {
    self.runtime = runtime
    self.store = store
  }

  @usableFromInline
  init<State>(_ store: OperationStore<State>) {
    self.init(runtime: store.runtime, store: store)
  }

  var opaque: OpaqueOperationStore { self.runtime.opaque(self.store) }
}

/// Stores that have come to a client and that have gone.
struct StoreChange: Sendable {
  var added: [KeptStore] = []
  var removed: [KeptStore] = []
  /// The last watcher that was there by then.
  var lastWatcherID: UInt64 = 0

  var isEmpty: Bool { self.added.isEmpty && self.removed.isEmpty }
}

/// One who is told which stores come and go below a path.
final class StoreWatcher: Sendable {
  private let path: OperationPath
  private let onChange: @Sendable (StoreChange) -> Void
  private let isCancelled = Switch(false)

  init(path: OperationPath, onChange: @escaping @Sendable (StoreChange) -> Void) {
    self.path = path
    self.onChange = onChange
  }

  func cancel() {
    _ = self.isCancelled.set(true)
  }

  func receive(_ change: StoreChange) {
    guard !self.isCancelled.isOn else { return }
    let seen = StoreChange(
      added: change.added.filter { self.path.isPrefix(of: $0.runtime.path) },
      removed: change.removed.filter { self.path.isPrefix(of: $0.runtime.path) }
    )
    if !seen.isEmpty { self.onChange(seen) }
  }
}

/// A subscriber to the stores that are added or removed at paths that start with a given one.
final class StoreWatcher: Sendable {
  private let path: OperationPath
  private let onChange: @Sendable (ClientChange) -> Void
  private let isCancelled = AtomicFlag(false)

  init(path: OperationPath, onChange: @escaping @Sendable (ClientChange) -> Void) {
    self.path = path
    self.onChange = onChange
  }

  func cancel() {
    _ = self.isCancelled.set(true)
  }

  func receive(_ change: ClientChange) {
    guard !self.isCancelled.isOn else { return }
    var matching = change
    matching.added.removeAll { !self.path.isPrefix(of: $0.runtime.path) }
    matching.removed.removeAll { !self.path.isPrefix(of: $0.runtime.path) }
    if !matching.isEmpty { self.onChange(matching) }
  }
}

extension OperationClient {
  /// Tells which stores come to the client and go from it, at paths that start with `path`.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all.
  ///   - onChange: Called in order, never while a lock is held, when the stores that were added are there and those that
  ///     were removed are not.
  public func subscribe(
    matching path: OperationPath = [],
    onChange:
      @escaping @Sendable (
        (
          storesAdded: OperationPathableCollection<OpaqueOperationStore>,
          storesRemoved: OperationPathableCollection<OpaqueOperationStore>
        )
      ) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      onChange(
        (
          storesAdded: .init(change.added.lazy.compactMap(\.runtime.opaqueStore)),
          storesRemoved: .init(change.removed.lazy.compactMap(\.runtime.opaqueStore))
        )
      )
    }
  }

  /// Tells which stores with a state of type `state` come to the client and go from it: see
  /// ``subscribe(matching:onChange:)``.
  public func subscribe<State: OperationState & Sendable>(
    matching path: OperationPath = [],
    state: State.Type,
    onChange:
      @escaping @Sendable (
        (
          storesAdded: OperationPathableCollection<OperationStore<State>>,
          storesRemoved: OperationPathableCollection<OperationStore<State>>
        )
      ) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      let added = OperationPathableCollection(change.added.lazy.compactMap { $0.store as? OperationStore<State> })
      let removed = OperationPathableCollection(change.removed.lazy.compactMap { $0.store as? OperationStore<State> })
      guard !added.isEmpty || !removed.isEmpty else { return }
      onChange((storesAdded: added, storesRemoved: removed))
    }
  }
}

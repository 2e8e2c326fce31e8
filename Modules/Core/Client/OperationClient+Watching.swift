extension OperationClient {
  /// Reports the stores that are added or removed from now on at paths that start with `path`.
  ///
  /// Each store that is reported as added is reported as removed once, when it can no longer be found at its path. A
  /// store that has another owner after its cache time stays at its path until its last reference is released. Its
  /// object no longer exists when its removal is reported: the store in `storesRemoved` is another object with its
  /// path, context and last state.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - onChange: Called in order and never with a lock held, after the change: added stores can be found, removed
  ///     ones cannot.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
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
          storesAdded: .init(change.added.lazy.map(\.opaque)),
          storesRemoved: .init(change.removed.lazy.map(\.opaque))
        )
      )
    }
  }

  /// Reports the stores with a state of type `state` that are added or removed from now on.
  ///
  /// See ``subscribe(matching:onChange:)``.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - state: The type of the state.
  ///   - onChange: Called in order and never with a lock held, after the change.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
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

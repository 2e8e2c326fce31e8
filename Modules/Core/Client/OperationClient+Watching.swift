extension OperationClient {
  /// Tells which stores come to the client and go from it, at paths that start with `path`, from now on.
  ///
  /// Each store that is announced as added is announced as removed once, when it is no longer found at its path. A store that
  /// is still held past its cache time stays there until its last reference goes. It cannot be handed over any more then: the
  /// store in `storesRemoved` is another object, with the path, context and last state of the one that has gone.
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
          storesAdded: .init(change.added.lazy.map(\.opaque)),
          storesRemoved: .init(change.removed.lazy.map(\.opaque))
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

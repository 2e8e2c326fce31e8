/// Makes the stores of operations of one type.
private enum TypedStoreMaker<Operation: StatefulOperationRequest>: StoreMaker {
  package static func store(
    after runtime: StoreRuntime,
    in host: any StoreHost
  ) -> (any AnyObject & Sendable)? {
    guard let client = host as? OperationClient else { return nil }
    let operation = runtime.operation.storage.anyOperation.inside(as: Operation.self)
    if let kept = client.storage.object(at: runtime.path) {
      if let operation { return client.typed(kept, for: operation, "", 0) }
      return kept is OperationStore<Operation.State> ? kept : nil
    }
    guard let operation else { return nil }
    var state = runtime.stateWithoutLayers.value(as: Operation.State.self)
    // The tasks belong to the removed store.
    _ = state.reset(using: runtime.context)
    return client.store(for: operation, initialState: state, fileID: "", line: 0)
  }
}

extension StoreRuntime {
  /// Notes how the store that takes the place of this one is made.
  @usableFromInline
  func noteMaker<Operation: StatefulOperationRequest>(for type: Operation.Type) {
    self.note(maker: TypedStoreMaker<Operation>.self)
  }
}

extension OperationStore {
  /// Whether a client has removed the store: it runs nothing by itself any more, and writes nothing.
  ///
  /// Calls of those who hold it still work, as for a store that belongs to no client.
  public var isRemoved: Bool { self.runtime.isOver }

  /// Goes on with the store that the client has at the path after it has removed this one.
  ///
  /// What shows an operation, and not one store of it, calls it when its handler is told of the removal. It is the one
  /// way by which wrappers and sequences of states follow an operation beyond a removal.
  ///
  /// - Parameter attach: Called with the client's store, which is made if there is none, with no lock held: after all
  ///   stores of the removal were notified, and after the events of the client that came before. Not called if the store
  ///   was not removed, if the client is gone, or if the path has a store of another type now, which is reported.
  public func withNextStore(_ attach: @escaping @Sendable (OperationStore<State>) -> Void) {
    guard self.isRemoved, let client = self.context.operationClient else { return }
    client.storage.performAfterRemovals { [weak client] in
      guard let client, let next = self.nextStore(in: client) else { return }
      attach(next)
    }
  }

  private func nextStore(in client: OperationClient) -> OperationStore<State>? {
    let store = self.runtime.maker?.store(after: self.runtime, in: client) as? OperationStore<State>
    // A creator may return the same store each time.
    return store === self ? nil : store
  }
}

extension StoreRuntime {
  /// Reports that the store cannot be put into a client again.
  func reportIsOver() {
    OperationWarning(
      code: .invalidArgument,
      message: """
        The store at \(ShownText.of(self.path)) was removed from its client, and is to be put into one again. It is \
        not: it runs nothing by itself any more. Put a new store there, which the second parameter of `withStores` \
        makes.
        """
    ).report()
  }
}

extension OperationClient {
  /// The store of an operation, which is made when there is none at its path.
  ///
  /// When an operation of another type, or of another state, has claimed the path, that is reported, and the store is one of
  /// its own that the client does not keep. A store keeps the modifiers that it was made with: debug builds report once a store
  /// that it is asked for with others.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The state that a new store begins with.
  @inlinable
  public func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    initialState: @autoclosure () -> Operation.State
  ) -> OperationStore<Operation.State> {
    if let kept = self.storage.object(at: operation.path) {
      return self.typed(kept, for: operation) ?? self.makeStore(for: operation, initialState: initialState())
    }
    let store = self.makeStore(for: operation, initialState: initialState())
    // A controller, or a custom creator, may use the store already.
    let isIdle = self.createsPlainStores && !store.runtime.hasDependents
    return self.typed(self.storage.insertIfAbsent(StoreHandle(store), isIdle: isIdle).store, for: operation) ?? store
  }

  /// The store of a query, which is made when there is none at its path.
  @inlinable
  public func store<Query: QueryRequest>(
    for query: Query,
    initialValue: Query.Value? = nil
  ) -> OperationStore<QueryState<Query.Value, Query.Failure>> {
    self.store(for: query, initialState: QueryState(initialValue: initialValue))
  }

  /// The store of an operation with a default value, which is made when there is none at its path.
  @inlinable
  public func store<Operation: DefaultStateRequest>(for operation: Operation) -> OperationStore<Operation.State> {
    self.store(for: operation, initialState: operation.initialState)
  }

  @inlinable
  func typed<Operation: StatefulOperationRequest>(
    _ kept: any AnyObject & Sendable,
    for operation: Operation
  ) -> OperationStore<Operation.State>? {
    if let store = kept as? OperationStore<Operation.State>,
      store.runtime.operation.unmodifiedType == Operation.unmodifiedType
    {
      // Told apart when the library is compiled, so that release builds find a store without it.
      #if DEBUG
        store.runtime.requestedOperation.reportIgnoredModifiers(of: operation)
      #endif
      return store
    }
    self.reportPathInUse(kept, by: operation)
    return nil
  }
}

extension OperationClient {
  /// The store at a path, if there is one.
  public func store(with path: OperationPath) -> OpaqueOperationStore? {
    self.storage.store(at: path)?.opaque
  }

  /// The stores at paths that start with `path`.
  public func stores(matching path: OperationPath = []) -> OperationPathableCollection<OpaqueOperationStore> {
    OperationPathableCollection(trie: self.storage.stores(matching: path).compactMap(\.opaque))
  }

  /// The stores with a state of type `state` at paths that start with `path`.
  @inlinable
  public func stores<State: OperationState & Sendable>(
    matching path: OperationPath = [],
    of state: State.Type
  ) -> OperationPathableCollection<OperationStore<State>> {
    OperationPathableCollection(
      trie: self.storage.stores(matching: path).compactMap { $0.store as? OperationStore<State> }
    )
  }

  /// Takes out the stores at paths that start with `path`. Those who hold them keep them.
  public func clearStores(matching path: OperationPath = []) {
    self.storage.removeAll(matching: path)
  }

  /// Takes out the store at `path`. Those who hold it keep it.
  ///
  /// - Returns: The store that was taken out; nil where there was none.
  @discardableResult
  public func clearStore(with path: OperationPath) -> OpaqueOperationStore? {
    self.storage.remove(at: path)?.opaque
  }
}

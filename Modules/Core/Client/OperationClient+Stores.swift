extension OperationClient {
  /// The store of an operation, which is made when there is none at its path.
  ///
  /// When an operation of another type has claimed the path, that is reported, and the store is one of its own that the
  /// client does not keep.
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
    return self.typed(self.storage.insertIfAbsent(KeptStore(store)).store, for: operation) ?? store
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
      return store
    }
    self.reportPathInUse(kept, by: Operation.unmodifiedType, at: operation.path)
    return nil
  }

  @usableFromInline
  func reportPathInUse(_ kept: any AnyObject, by type: any OperationRequest.Type, at path: OperationPath) {
    let keptType = (kept as? any RuntimeHolder)?.erasedRuntime.unmodifiedOperationType
    OperationWarning(
      code: .pathInUse,
      message: """
        \(type) claims the path \(path), where a store of \(keptType ?? type) is. It gets a store of \
        its own, which the client does not keep. Give each type of operation paths of its own.
        """
    ).report()
  }
}

extension OperationClient {
  /// The store at a path, if there is one.
  public func store(with path: OperationPath) -> OpaqueOperationStore? {
    self.storage.store(at: path)?.runtime.opaqueStore
  }

  /// The stores at paths that start with `path`.
  public func stores(matching path: OperationPath = []) -> OperationPathableCollection<OpaqueOperationStore> {
    OperationPathableCollection(trie: self.storage.stores(matching: path).compactMap { $0.runtime.opaqueStore })
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
  public func clearStore(with path: OperationPath) {
    self.storage.remove(at: path)
  }
}

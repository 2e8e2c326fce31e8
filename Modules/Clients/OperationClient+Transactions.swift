extension OperationClient {
  /// Creates stores with the client's defaults inside ``OperationClient/withStores(matching:of:perform:)``.
  ///
  /// The other overloads of `withStores` pass it, too. Insert the created stores with `stores.update(_:)`.
  public struct CreateStore: Sendable {
    fileprivate let client: OperationClient

    /// Creates the store of an operation.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - initialState: The initial state of the store.
    /// - Returns: The store, which the client does not keep.
    public func callAsFunction<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      self.client.makeStore(for: operation, initialState: initialState)
    }

    /// Creates the store of a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - initialValue: The value before the first run.
    /// - Returns: The store, which the client does not keep.
    public func callAsFunction<Query: QueryRequest>(
      for query: Query,
      initialValue: Query.Value? = nil
    ) -> OperationStore<QueryState<Query.Value, Query.Failure>> {
      self.client.makeStore(for: query, initialState: QueryState(initialValue: initialValue))
    }

    /// Creates the store of an operation with a default value.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The store, which the client does not keep.
    public func callAsFunction<Operation: DefaultStateRequest>(
      for operation: Operation
    ) -> OperationStore<Operation.State> {
      self.client.makeStore(for: operation, initialState: operation.initialState)
    }
  }

  /// Inserts and removes stores with a state of type `state` at paths that start with `path`, as one edit.
  ///
  /// Edits run one at a time. An edit becomes visible when `perform` returns, and is discarded when `perform` throws.
  /// Subscribers receive replaced stores as removed first, then the new ones as added. A store that was removed from a
  /// client before cannot be put into one again, which is reported.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - state: The type of the state.
  ///   - perform: Edits the collection of these stores. It can create stores with its second parameter.
  /// - Returns: The result of `perform`.
  /// - Throws: The error of `perform`.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  @discardableResult
  public func withStores<State: OperationState & Sendable, R, E: Error>(
    matching path: OperationPath = [],
    of state: State.Type,
    perform: (inout OperationPathableCollection<OperationStore<State>>, CreateStore) throws(E) -> R
  ) throws(E) -> R {
    try self.edit(self.stores(matching: path, of: state), perform) { StoreHandle($0) }
  }

  /// Edits the stores at paths that start with `path`: see ``withStores(matching:of:perform:)``.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - perform: Edits the collection of these stores. It can create stores with its second parameter.
  /// - Returns: The result of `perform`.
  /// - Throws: The error of `perform`. The edit is discarded then.
  @discardableResult
  public func withStores<R, E: Error>(
    matching path: OperationPath = [],
    perform: (inout OperationPathableCollection<OpaqueOperationStore>, CreateStore) throws(E) -> R
  ) throws(E) -> R {
    try self.edit(self.stores(matching: path), perform) { store in
      StoreHandle(runtime: store.runtime, store: store.store)
    }
  }

  private func edit<Store: OperationPathable, R, E: Error>(
    _ stores: @autoclosure () -> OperationPathableCollection<Store>,
    _ perform: (inout OperationPathableCollection<Store>, CreateStore) throws(E) -> R,
    kept: (Store) -> StoreHandle
  ) throws(E) -> R {
    // Notifies after exclusive access has ended. The changes of a nested edit are reported together with the outer
    // edit.
    defer { if !self.transactions.isOwnedByCurrentThread { self.storage.notifyOfChanges() } }
    return try self.transactions.withExclusiveAccess { () throws(E) -> R in
      let before = stores()
      var after = before
      let result = try perform(&after, CreateStore(client: self))
      let removed = self.stores(in: before, butNotIn: after, kept: kept)
      let added = self.stores(in: after, butNotIn: before, kept: kept)
      self.storage.apply(removed: removed, added: added)
      return result
    }
  }

  private func stores<Store: OperationPathable>(
    in these: OperationPathableCollection<Store>,
    butNotIn those: OperationPathableCollection<Store>,
    kept: (Store) -> StoreHandle
  ) -> [StoreHandle] {
    these.map(kept).filter { store in
      those[store.runtime.path].map { kept($0).runtime !== store.runtime } ?? true
    }
  }
}

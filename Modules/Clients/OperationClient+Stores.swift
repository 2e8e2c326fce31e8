extension OperationClient {
  /// Returns the store of an operation, and creates it if its path has no store.
  ///
  /// If the path has a store with another operation type or state type, the client reports that, and returns a separate
  /// store that it does not keep. A store keeps the modifiers that it was created with: debug builds report, once for
  /// each store, that it was requested with other modifiers.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The initial state of a new store; not evaluated if the path has a store.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store.
  @inlinable
  public func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    initialState: @autoclosure () -> Operation.State,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<Operation.State> {
    if let kept = self.storage.object(at: operation.path) {
      if let store = self.typed(kept, for: operation, fileID, line) { return store }
      return self.makeStore(for: operation, initialState: initialState(), fileID, line)
    }
    let store = self.makeStore(for: operation, initialState: initialState(), fileID, line)
    // A controller or a custom creator may already use the store.
    let isIdle = self.createsPlainStores && !store.runtime.hasDependents
    let kept = self.storage.insertIfAbsent(StoreHandle(store), isIdle: isIdle).store
    return self.typed(kept, for: operation, fileID, line) ?? store
  }

  /// Looks up the store of a query, and creates it if its path has no store.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - initialValue: The value of a new store before its first run; nil for none.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store; a separate one, with a report, if the path has a store with another operation or state type.
  @inlinable
  public func store<Query: QueryRequest>(
    for query: Query,
    initialValue: Query.Value? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<QueryState<Query.Value, Query.Failure>> {
    self.store(for: query, initialState: QueryState(initialValue: initialValue), fileID: fileID, line: line)
  }

  /// Looks up the store of an operation with a default value, and creates it if its path has no store.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store; a separate one, with a report, if the path has a store with another operation or state type.
  @inlinable
  public func store<Operation: DefaultStateRequest>(
    for operation: Operation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<Operation.State> {
    self.store(for: operation, initialState: operation.initialState, fileID: fileID, line: line)
  }

  /// Creates a store without inserting it.
  @inlinable
  func makeStore<Operation: StatefulOperationRequest>(
    for operation: Operation,
    initialState: Operation.State,
    _ fileID: StaticString = "",
    _ line: UInt = 0
  ) -> OperationStore<Operation.State> {
    let context = self.defaultContext(at: operation.path)
    let store =
      self.createsPlainStores
      ? OperationStore.detached(operation: operation, initialState: initialState, initialContext: context)
      : self.storeCreator.store(for: operation, in: context, with: initialState)
    store.runtime.noteMaker(for: Operation.self)
    #if DEBUG
      store.runtime.requestedOperation.note(operation, at: CallSite(fileID, line))
    #endif
    return store
  }

  /// Returns a store with its type; nil, with a report, when it is the store of another operation or state type.
  @inlinable
  func typed<Operation: StatefulOperationRequest>(
    _ kept: any AnyObject & Sendable,
    for operation: Operation,
    _ fileID: StaticString,
    _ line: UInt
  ) -> OperationStore<Operation.State>? {
    if let store = kept as? OperationStore<Operation.State>,
      store.runtime.operation.unmodifiedType == Operation.unmodifiedType
    {
      // Compiled into debug builds of the library only, so that release builds find a store without this check.
      #if DEBUG
        store.runtime.requestedOperation.reportIgnored(of: operation, at: CallSite(fileID, line))
      #endif
      return store
    }
    self.reportPathInUse(kept, by: operation)
    return nil
  }
}

extension OperationClient {
  /// Looks up the store at a path.
  ///
  /// - Parameter path: The path.
  /// - Returns: The store; nil if the path has none.
  public func store(with path: OperationPath) -> OpaqueOperationStore? {
    self.storage.store(at: path)?.opaque
  }

  /// Looks up the stores at paths that start with `path`.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func stores(matching path: OperationPath = []) -> OperationPathableCollection<OpaqueOperationStore> {
    OperationPathableCollection(trie: self.storage.stores(matching: path).compactMap(\.opaque))
  }

  /// Looks up the stores at paths that start with `path`, if a predicate is true for them.
  ///
  /// ```swift
  /// let idle = client.stores(matching: ["posts"]) { $0.isStale && $0.subscriberCount == 0 }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - isIncluded: Called once with each of these stores, with no lock held.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Throws: The error of `isIncluded`.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  public func stores<E: Error>(
    matching path: OperationPath = [],
    where isIncluded: (OpaqueOperationStore) throws(E) -> Bool
  ) throws(E) -> [OpaqueOperationStore] {
    var stores: [OpaqueOperationStore] = []
    for store in self.stores(matching: path) where try isIncluded(store) { stores.append(store) }
    return stores
  }

  /// Looks up the stores with a state of type `state` at paths that start with `path`.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - state: The type of the state.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  @inlinable
  public func stores<State: OperationState & Sendable>(
    matching path: OperationPath = [],
    of state: State.Type
  ) -> OperationPathableCollection<OperationStore<State>> {
    OperationPathableCollection(
      trie: self.storage.stores(matching: path).compactMap { $0.store as? OperationStore<State> }
    )
  }

  /// Removes the stores at paths that start with `path`.
  ///
  /// A removed store runs nothing by itself any more, and writes nothing into a storage. Runs that only subscribers wait
  /// for are cancelled, the subscribers are notified, and their subscriptions end: see
  /// ``OperationEventHandler/onStoreRemoved``. Runs with callers go on, and calls of other owners of the stores still
  /// work. Wrappers, `states(of:)` and derived queries go on with the client's next stores at these paths. Values that
  /// were read ahead for stores at these paths are discarded. Stored values stay in their storage.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func clearStores(matching path: OperationPath = []) {
    for object in self.preloading { object.discardPreloaded(matching: path) }
    self.storage.removeAll(matching: path)
  }

  /// Removes the store at `path`, as ``clearStores(matching:)`` does, and discards a value read ahead for it.
  ///
  /// - Parameter path: The path.
  /// - Returns: The removed store; nil if the path has none.
  @discardableResult
  public func clearStore(with path: OperationPath) -> OpaqueOperationStore? {
    for object in self.preloading { object.discardPreloaded(at: path) }
    return self.storage.remove(at: path)?.opaque
  }
}

// MARK: - Keys of paths

extension OperationClient {
  /// Looks up the store at the path of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The store; nil if the path has no store with the state type of the key.
  public func store<State: OperationState & Sendable>(with key: OperationPathKey<State>) -> OperationStore<State>? {
    self.storage.store(at: key.path)?.store as? OperationStore<State>
  }

  /// Looks up the stores with the state type of a prefix at paths that start with it.
  ///
  /// - Parameter prefix: The prefix.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  public func stores<State: OperationState & Sendable>(
    matching prefix: OperationPathPrefix<State>
  ) -> OperationPathableCollection<OperationStore<State>> {
    self.stores(matching: prefix.path, of: State.self)
  }

  /// Looks up the stores with the state type of a key, at its path and at paths that start with it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  public func stores<State: OperationState & Sendable>(
    matching key: OperationPathKey<State>
  ) -> OperationPathableCollection<OperationStore<State>> {
    self.stores(matching: key.path, of: State.self)
  }

  /// Marks the stores at the path of a key and below it as stale, and reruns those with subscribers: see
  /// ``invalidate(matching:rerunning:isolation:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - reruns: Which of these stores run again.
  ///   - isolation: The actor of the caller.
  /// - Returns: The invalidation, by which a caller waits for the reruns.
  @discardableResult
  public func invalidate<State>(
    matching key: OperationPathKey<State>,
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    self.invalidate(matching: key.path, rerunning: reruns, isolation: isolation)
  }

  /// Marks the stores below a prefix as stale, and reruns those with subscribers: see
  /// ``invalidate(matching:rerunning:isolation:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - reruns: Which of these stores run again.
  ///   - isolation: The actor of the caller.
  /// - Returns: The invalidation, by which a caller waits for the reruns.
  @discardableResult
  public func invalidate<State>(
    matching prefix: OperationPathPrefix<State>,
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    self.invalidate(matching: prefix.path, rerunning: reruns, isolation: isolation)
  }

  /// Edits the stores with the state type of a prefix: see ``withStores(matching:of:perform:)``.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - perform: Edits the collection of these stores. It can create stores with its second parameter.
  /// - Returns: The result of `perform`.
  /// - Throws: The error of `perform`. The edit is discarded then.
  @discardableResult
  public func withStores<State: OperationState & Sendable, R, E: Error>(
    matching prefix: OperationPathPrefix<State>,
    perform: (inout OperationPathableCollection<OperationStore<State>>, CreateStore) throws(E) -> R
  ) throws(E) -> R {
    try self.withStores(matching: prefix.path, of: State.self, perform: perform)
  }
}

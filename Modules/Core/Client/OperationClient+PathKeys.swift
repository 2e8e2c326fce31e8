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

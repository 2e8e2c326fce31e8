public import OperationCore

extension SharedOperation {
  /// Runs the operation and waits for its value.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The value that the run returns.
  /// - Throws: The error of the operation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func run(
    using context: OperationContext? = nil,
    handler: OperationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.callStore("run()") { store throws(State.Failure) in
      try await store.run(using: context, handler: handler)
    }
  }

  /// Waits for a run that is under way, and runs the operation if there is none.
  ///
  /// In contrast to ``run(using:handler:)`` it never starts a second run, whether the operation shares runs or not.
  ///
  /// - Returns: The value that the run returns.
  /// - Throws: The error of the operation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func load() async throws(State.Failure) -> State.OperationValue {
    try await self.callStore("load()") { store throws(State.Failure) in
      try await store.runOrJoin().get()
    }
  }
}

extension SharedOperation where State: QueryStateProtocol {
  /// Fetches the value and waits for it.
  ///
  /// - Parameters:
  ///   - context: Entries for this fetch, which take precedence over the store's context.
  ///   - handler: Receives the events of this fetch only.
  /// - Returns: The value that the fetch returns.
  /// - Throws: The error of the query, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func fetch(
    using context: OperationContext? = nil,
    handler: QueryEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.callStore("fetch()") { store throws(State.Failure) in
      try await store.fetch(using: context, handler: handler)
    }
  }
}

extension SharedOperation {
  /// Calls the store, and returns when the effect of the call can be read on the main actor, too.
  ///
  /// Like the calls of the store, it begins on the actor of its caller, so that calls take their places in order.
  ///
  /// - Parameters:
  ///   - call: The name of the call, for the error of a wrapper without a store.
  ///   - body: The call.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or an ``UnbackedOperationError`` without a store. The program stops instead if
  ///   `State.Failure` cannot be that error.
  nonisolated(nonsending) func callStore<R>(
    _ call: String,
    _ body: nonisolated(nonsending) (OperationStore<State>) async throws(State.Failure) -> R
  ) async throws(State.Failure) -> R {
    guard let store = self.store else { try Self.throwUnbacked(call) }
    do throws(State.Failure) {
      let value = try await body(store)
      await self.observed.catchUp()
      return value
    } catch {
      await self.observed.catchUp()
      throw error
    }
  }

  private static func throwUnbacked(_ call: String) throws(State.Failure) -> Never {
    let error = UnbackedOperationError(call: call)
    // True only where `Failure` is `any Error`.
    if let error = error as? State.Failure { throw error }
    preconditionFailure(error.description)
  }
}

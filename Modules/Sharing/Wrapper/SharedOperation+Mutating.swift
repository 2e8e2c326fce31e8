public import OperationCore
public import OperationMutation

extension SharedOperation where State: MutationStateProtocol {
  /// Calls the mutation and waits for its value.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation.
  /// - Throws: The error of the mutation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func mutate(
    with arguments: State.Arguments,
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.callStore("mutate(with:)") { store throws(State.Failure) in
      try await store.mutate(with: arguments, using: context, handler: handler)
    }
  }

  /// Calls the mutation again with the arguments of the newest call in its history.
  ///
  /// - Parameters:
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation; nil if the history is empty, which is reported.
  /// - Throws: The error of the mutation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue? {
    try await self.callStore("retryLatest()") { store throws(State.Failure) in
      try await store.retryLatest(using: context, handler: handler) as State.OperationValue?
    }
  }
}

extension SharedOperation where State: MutationStateProtocol, State.Failure == any Error {
  /// Calls the mutation again with the arguments of the newest call in its history.
  ///
  /// - Parameters:
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation.
  /// - Throws: The error of the mutation, a ``/OperationMutation/MutationError`` if the history is empty, or an
  ///   ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws -> State.OperationValue {
    try await self.callStore("retryLatest()") { store throws(State.Failure) in
      try await store.retryLatest(using: context, handler: handler) as State.OperationValue
    }
  }
}

extension SharedOperation where State: MutationStateProtocol, State.Arguments == Void {
  /// Calls a mutation that takes no arguments, and waits for its value.
  ///
  /// See ``mutate(with:using:handler:)``.
  @discardableResult
  nonisolated(nonsending) public func mutate(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.mutate(with: (), using: context, handler: handler)
  }
}

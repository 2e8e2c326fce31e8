public import OperationCore

extension OperationStore where State: MutationStateProtocol {
  /// Calls the mutation and waits for its value.
  ///
  /// Any number of calls may be active at the same time. A caller that is cancelled cancels its call.
  ///
  /// The call takes its position in its scope and in its journal before this leaves the actor of the caller. So two calls
  /// that one actor begins one after the other are made in that order. Where nothing orders the callers, use
  /// ``enqueue(with:using:handler:)``.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation.
  /// - Throws: The error of the mutation. If the call is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func mutate(
    with arguments: State.Arguments,
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.run(
      using: .calling(with: arguments, in: context),
      handler: handler.map { OperationEventHandler($0) }
    )
  }

  /// Returns a task that calls the mutation when it runs.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - context: Entries for this call, which take precedence over the store's context.
  /// - Returns: The task, which has not started. Its value is what the mutation returns.
  public func mutateTask(
    with arguments: State.Arguments,
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure> {
    self.runTask(using: .calling(with: arguments, in: context))
  }
}

extension OperationStore where State: MutationStateProtocol, State.Arguments == Void {
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

  /// Returns a task that calls a mutation without arguments when it runs.
  public func mutateTask(
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure> {
    self.mutateTask(with: (), using: context)
  }
}

public import OperationCore

extension OperationStore where State: MutationStateProtocol {
  /// Calls the mutation and waits for what it produces.
  ///
  /// Any number of calls may be under way at a time. A caller that is cancelled cancels its call.
  ///
  /// - Parameters:
  ///   - arguments: What the call brings.
  ///   - context: Entries that replace those of the store's context for this call.
  ///   - handler: Hears of the events of this call alone.
  /// - Throws: What the mutation throws. When the call is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  public func mutate(
    with arguments: State.Arguments,
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.run(
      using: .calling(with: arguments, in: context),
      handler: handler.map { OperationEventHandler($0) }
    )
  }

  /// A task that calls the mutation once it is run.
  ///
  /// - Parameters:
  ///   - arguments: What the call brings.
  ///   - context: Entries that replace those of the store's context for this call.
  public func mutateTask(
    with arguments: State.Arguments,
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure> {
    self.runTask(using: .calling(with: arguments, in: context))
  }
}

extension OperationStore where State: MutationStateProtocol, State.Arguments == Void {
  /// Calls a mutation that takes no arguments and waits for what it produces.
  ///
  /// See ``mutate(with:using:handler:)``.
  @discardableResult
  public func mutate(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.mutate(with: (), using: context, handler: handler)
  }

  /// A task that calls a mutation that takes no arguments once it is run.
  public func mutateTask(
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure> {
    self.mutateTask(with: (), using: context)
  }
}

public import OperationCore

extension OperationStore where State: MutationStateProtocol, State.Failure == any Error {
  /// Calls the mutation again with the arguments of the newest call in its history.
  ///
  /// - Parameters:
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation.
  /// - Throws: The error of the mutation, or a ``MutationError`` if the history is empty.
  @discardableResult
  nonisolated(nonsending) public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws -> State.OperationValue {
    guard let arguments = self.state.latestArguments else { throw MutationError.noHistory(at: self.path) }
    return try await self.mutate(with: arguments, using: context, handler: handler)
  }

  /// Returns a task that calls the mutation again with the arguments of the newest call in its history.
  ///
  /// The arguments are read now, not when the task runs. If the history is empty, the task fails with a
  /// ``MutationError`` and does not change the state.
  public func retryLatestTask(
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, any Error> {
    guard let arguments = self.state.latestArguments else {
      let error = MutationError.noHistory(at: self.path)
      return OperationTask(context: context ?? self.context) { _, _ in throw error }
    }
    return self.mutateTask(with: arguments, using: context)
  }
}

extension OperationStore where State: MutationStateProtocol {
  /// Calls the mutation again with the arguments of the newest call in its history.
  ///
  /// If the history is empty, this is reported and nothing is called, as the mutation's failure cannot represent the
  /// error.
  ///
  /// - Parameters:
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The value of the mutation, or nil if the history is empty.
  /// - Throws: The error of the mutation.
  @discardableResult
  nonisolated(nonsending) public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue? {
    guard let arguments = self.reportedLatestArguments else { return nil }
    return try await self.mutate(with: arguments, using: context, handler: handler)
  }

  /// Returns a task that calls the mutation again with the arguments of the newest call in its history.
  ///
  /// The arguments are read now, not when the task runs.
  ///
  /// - Returns: The task, or nil if the history is empty, which is reported.
  public func retryLatestTask(
    using context: OperationContext? = nil
  ) -> OperationTask<State.OperationValue, State.Failure>? {
    self.reportedLatestArguments.map { self.mutateTask(with: $0, using: context) }
  }

  private var reportedLatestArguments: State.Arguments? {
    if let arguments = self.state.latestArguments { return arguments }
    OperationWarning(code: .noHistory, message: MutationError.noHistory(at: self.path).message).report()
    return nil
  }
}

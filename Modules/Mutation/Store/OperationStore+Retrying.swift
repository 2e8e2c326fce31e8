public import OperationCore

extension OperationStore where State: MutationStateProtocol, State.Failure == any Error {
  /// Calls the mutation again with the arguments of the newest call in its history.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of the store's context for this call.
  ///   - handler: Hears of the events of this call alone.
  /// - Throws: What the mutation throws, or a ``MutationError`` when there is no call in the history.
  @discardableResult
  public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws -> State.OperationValue {
    guard let arguments = self.state.latestArguments else { throw MutationError.noHistory(at: self.path) }
    return try await self.mutate(with: arguments, using: context, handler: handler)
  }

  /// A task that calls the mutation again, once it is run, with the arguments of what is now the newest call in its
  /// history.
  ///
  /// When there is none the task fails with a ``MutationError``, and leaves no trace in the state.
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
  /// When there is none, for which the failure of this mutation has no room, that is reported and nothing happens.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of the store's context for this call.
  ///   - handler: Hears of the events of this call alone.
  /// - Returns: What the mutation produces, or nil when there is no call in the history.
  /// - Throws: What the mutation throws.
  @discardableResult
  public func retryLatest(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue? {
    guard let arguments = self.reportedLatestArguments else { return nil }
    return try await self.mutate(with: arguments, using: context, handler: handler)
  }

  /// A task that calls the mutation again, once it is run, with the arguments of what is now the newest call in its
  /// history.
  ///
  /// - Returns: The task; nil, which is reported, when there is no call in the history.
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

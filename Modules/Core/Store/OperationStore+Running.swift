extension OperationStore {
  /// Runs the operation and waits for its value.
  ///
  /// Where the operation shares runs, as with `.deduplicated()`, the call joins a run that does the same. A caller that is
  /// cancelled cancels the run unless others wait for it.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of ``context`` for this run.
  ///   - handler: Hears of the events of this run alone.
  /// - Throws: What the operation throws. When the run is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  @inlinable
  public func run(
    using context: OperationContext? = nil,
    handler: OperationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.runtime.run(using: context, handler: handler.map { RunHandler($0) }).get()
  }

  /// A task that runs the operation once it is run itself.
  @inlinable
  public func runTask(using context: OperationContext? = nil) -> OperationTask<State.OperationValue, State.Failure> {
    self.runtime.makeNamedTask(using: context)
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Fetches the value and waits for it.
  ///
  /// Where the query shares runs, as with `.deduplicated()`, the call joins a fetch that does the same. A caller that is
  /// cancelled cancels the fetch unless others wait for it.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of ``context`` for this fetch.
  ///   - handler: Hears of the events of this fetch alone.
  /// - Throws: What the query throws. When the fetch is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  @inlinable
  public func fetch(
    using context: OperationContext? = nil,
    handler: QueryEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.runtime.run(using: context, handler: handler.map { RunHandler(OperationEventHandler($0)) }).get()
  }

  /// A task that fetches the value once it is run.
  @inlinable
  public func fetchTask(using context: OperationContext? = nil) -> OperationTask<State.OperationValue, State.Failure> {
    self.runtime.makeNamedTask(using: context)
  }
}

extension OperationStore {
  /// Runs the operation and waits for its value.
  ///
  /// If the operation shares runs, as with `.deduplicated()`, the call joins a run that does the same work. Cancelling
  /// the caller cancels the run, unless other callers wait for it or subscribers keep it alive.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over ``context``.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The value that the run returns.
  /// - Throws: The error of the operation. If the call or the run is cancelled, the error that the run ends with, or
  ///   `CancellationError`. ``OperationCycleError`` if `Failure` can hold it and the run to join waits for this call.
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func run(
    using context: OperationContext? = nil,
    handler: OperationEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    let outcome = await self.runtime.run(using: context, listener: handler.map { TypedSubscriber($0) })
    return try outcome.get(State.OperationValue.self, State.Failure.self)
  }

  /// Creates a task that runs the operation when the task is run.
  ///
  /// - Parameter context: Entries for this run, which take precedence over ``context``.
  /// - Returns: The task, which has not started.
  public func runTask(using context: OperationContext? = nil) -> OperationTask<State.OperationValue, State.Failure> {
    OperationTask(self.runtime.makeNamedTask(using: context))
  }
}

extension OperationStore {
  /// Returns a value that the state has, or waits for a run that refreshes the whole value; without one, runs the
  /// operation.
  ///
  /// It is the way in for reads with a rule of their own: the interceptors of the store are asked as for other calls.
  ///
  /// - Parameters:
  ///   - demand: What the caller asks for.
  ///   - context: Entries for the run, which take precedence over ``context``.
  ///   - value: The value of the state, if that is what the caller asks for; nil if it needs a run.
  /// - Returns: The value.
  /// - Throws: The failure of the run, or of an interceptor.
  public func value(
    for demand: StoreCall.Demand,
    using context: OperationContext? = nil,
    inState value: State.OperationValue?
  ) async throws(State.Failure) -> State.OperationValue {
    if let value, !self.runtime.interceptsCalls { return value }
    if value == nil, demand == .run { return try await self.run(using: context) }
    return try await self.runtime.runOrJoin(demand, using: context, kept: value.map { RunSuccess($0) })
      .get(State.OperationValue.self, State.Failure.self)
  }

  /// Waits for a run that refreshes the whole value; without one, runs the operation.
  nonisolated(nonsending) package func runOrJoin(
    _ demand: StoreCall.Demand = .value
  ) async -> Result<State.OperationValue, State.Failure> {
    await self.runtime.runOrJoin(demand).result()
  }

  /// Waits until no run is under way, or the current task is cancelled.
  public func settled() async {
    await self.runtime.settled()
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Fetches the value and waits for it: with a run that begins now, or with a shared run that is under way.
  ///
  /// If the query shares runs, as with `.deduplicated()`, the call joins a fetch that does the same work. A value that
  /// has arrived before is fetched again, even if a subscription has just fetched it. To fetch only if need be, use
  /// `client.ensureValue(for:)`, or only subscribe. Cancelling the caller cancels the fetch, unless other callers wait
  /// for it or subscribers keep it alive.
  ///
  /// - Parameters:
  ///   - context: Entries for this fetch, which take precedence over ``context``.
  ///   - handler: Receives the events of this fetch only.
  /// - Returns: The value that the fetch returns.
  /// - Throws: The error of the query. If the call or the fetch is cancelled, the error that the fetch ends with, or
  ///   `CancellationError`. ``OperationCycleError`` if `Failure` can hold it and the fetch to join waits for this
  ///   call.
  @discardableResult
  @inlinable
  public func fetch(
    using context: OperationContext? = nil,
    handler: QueryEventHandler<State>? = nil
  ) async throws(State.Failure) -> State.OperationValue {
    let listener = handler.map { TypedSubscriber(OperationEventHandler($0)) }
    let outcome = await self.runtime.run(using: context, listener: listener)
    return try outcome.get(State.OperationValue.self, State.Failure.self)
  }

  /// Creates a task that fetches the value when the task is run.
  ///
  /// - Parameter context: Entries for this fetch, which take precedence over ``context``.
  /// - Returns: The task, which has not started.
  public func fetchTask(using context: OperationContext? = nil) -> OperationTask<State.OperationValue, State.Failure> {
    OperationTask(self.runtime.makeNamedTask(using: context))
  }
}

// MARK: - Values

extension OperationStore {
  /// An asynchronous sequence of the current value and all later ones.
  ///
  /// It ends when the store is released, or removed from its client.
  ///
  /// A value is repeated when it is set again, but not when a run begins, pauses or fails. Each iterator is a
  /// subscriber of its own and unsubscribes when it is dropped. A slow iterator receives the newest value and misses
  /// the earlier ones.
  public var values: AsyncValues { AsyncValues(runtime: self.runtime) }

  /// The values of a store, as ``OperationStore/values`` returns them.
  public struct AsyncValues: AsyncSequence, Sendable {
    public typealias Element = State.StateValue
    public typealias Failure = Never

    let runtime: StoreRuntime

    public func makeAsyncIterator() -> Iterator {
      let last = Locked<(values: Int, errors: Int)?>(nil)
      let (values, subscription) = OperationStore.makeStream(of: self.runtime) { state, context -> Element? in
        let counts = (values: state.valueUpdateCount, errors: state.errorUpdateCount)
        let previous = last.withLock { last in
          defer { last = counts }
          return last
        }
        let isSet = previous?.values != counts.values
        // Optimistic updates and resets show another value without setting one. They come from outside of runs.
        let isShownAnew = context.operationRunningTaskIdentifier == nil && previous?.errors == counts.errors
        return isSet || isShownAnew ? .some(state.currentValue) : nil
      }
      return Iterator(base: values.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over the values of a store.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var base: AsyncStream<Element>.Iterator
      let subscription: OperationSubscription

      public mutating func next() async -> Element? {
        await self.base.next()
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> Element? {
        await self.base.next(isolation: isolation)
      }
    }
  }
}

public import OperationActivityObserving
public import OperationBackoff
public import OperationCore
internal import OperationDedupe
public import OperationNetworkObserving
internal import OperationRetry

extension OperationClient {
  /// Applies the defaults that nearly all operations of a client need.
  ///
  /// Queries, and all other operations that a store may run by itself, are retried with backoff, deduplicated and run
  /// automatically. If their value is stale and has subscribers, they are rerun when the network is back and when the
  /// application is active again. A retry waits while the network is away. Mutations get retries only, and only if you
  /// set a limit. An operation's own settings override these defaults. The retries are made directly inside of the
  /// innermost timeout, deadline or fallback of the operation, so what you write bounds them; a retry of your own
  /// replaces them. All retries of the client, yours included, share one ``retryBudget``: while a service fails, they add
  /// at most a fifth to the load and ten requests a second, of which a hundred may come at once.
  public struct DefaultStoreCreator: StoreCreator {
    var retryLimit: Int
    var mutationRetryLimit: Int
    /// The entries for the contexts of mutations, which all their stores share.
    var mutationEntries: OperationContext
    /// The entries for the contexts of queries and all other operations that a store may run by itself.
    var queryEntries: OperationContext
    var environment: EnvironmentObserver?

    /// The budget of the retries of all operations of the client; nil for none.
    ///
    /// Its snapshot shows what is left of it. An operation or a default context with a budget of its own has that one.
    public let retryBudget: RetryBudget?

    /// The condition that holds while the network is connected; nil without a network observer.
    public let connectionSpecification: (any OperationRunSpecification & Sendable)?

    public func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      guard operation.allowsAutomaticRuns else {
        let context = self.context(adding: self.mutationEntries, to: context)
        guard self.mutationRetryLimit > 0 else {
          return .detached(operation: operation, initialState: initialState, initialContext: context)
        }
        let mutation = operation.defaultRetry(limit: self.mutationRetryLimit)
        return .detached(operation: mutation, initialState: initialState, initialContext: context)
      }
      let store = OperationStore<Operation.State>.detached(
        operation: operation.defaultRetry(limit: self.retryLimit).deduplicated(),
        initialState: initialState,
        initialContext: self.context(adding: self.queryEntries, to: context)
      )
      guard let watch = self.environment else { return store }
      return store.watched { watch.add($0) }
    }

    /// A budget in the default context of a client is the user's, and stays.
    private func context(adding entries: OperationContext, to context: OperationContext) -> OperationContext {
      var merged = context.adding(entries)
      if let budget = context.operationRetryBudget { merged.operationRetryBudget = budget }
      return merged
    }
  }
}

extension OperationClient.StoreCreator where Self == OperationClient.DefaultStoreCreator {
  /// Applies the defaults that nearly all operations of a client need.
  ///
  /// - Parameters:
  ///   - retryLimit: The maximum number of retries of a query.
  ///   - mutationRetryLimit: The maximum number of retries of a mutation.
  ///   - backoff: The delays before retries; nil for exponential delays, beginning with one second.
  ///   - delayer: Waits for the delays; nil for the deadline queue of the process.
  ///   - automaticRunningSpecification: The condition for running queries automatically.
  ///   - networkObserver: Reruns stale queries with subscribers when the network is back. Before a retry, a run pauses
  ///     until it is back; see `networkMode(_:)`. With nil, the network counts as connected.
  ///   - activityObserver: Reruns stale queries with subscribers when the application is active again; nil for none.
  ///   - retryBudget: Bounds the retries of all operations of the client together; nil for no bound. By default a fifth
  ///     of the runs of the last ten seconds, and ten in a second that need no run, which accumulate for ten seconds.
  /// - Returns: A store creator with these defaults.
  public static func `default`(
    retryLimit: Int = 3,
    mutationRetryLimit: Int = 0,
    backoff: OperationBackoffFunction? = nil,
    delayer: (any OperationDelayer & Sendable)? = nil,
    automaticRunningSpecification: any OperationRunSpecification & Sendable = .always(true),
    networkObserver: (any NetworkObserver & Sendable)? = OperationClient.defaultNetworkObserver,
    activityObserver: (any ApplicationActivityObserver & Sendable)? = OperationClient.defaultActivityObserver,
    retryBudget: RetryBudget? = RetryBudget(name: "client")
  ) -> Self {
    var entries = OperationContext()
    if let backoff { entries.operationBackoffFunction = backoff }
    if let delayer { entries.operationDelayer = delayer }
    let connection: NetworkConnectionRunSpecification? = networkObserver.map { .connected(to: $0) }
    entries.operationNetworkConnection = connection ?? .connected(to: .alwaysConnected)
    entries.operationNetworkMode = .offlineFirst
    if let retryBudget { entries.operationRetryBudget = retryBudget }
    var queryEntries = entries
    queryEntries.automaticRunningSpecification = automaticRunningSpecification
    return Self(
      retryLimit: retryLimit,
      mutationRetryLimit: mutationRetryLimit,
      mutationEntries: entries,
      queryEntries: queryEntries,
      environment: EnvironmentObserver(network: networkObserver, activity: activityObserver),
      retryBudget: retryBudget,
      connectionSpecification: connection
    )
  }

  /// The defaults for tests: no retries, no delays, no observers, no budget.
  public static var defaultTesting: Self {
    .default(
      retryLimit: 0,
      backoff: .noBackoff,
      delayer: .noDelay,
      networkObserver: nil,
      activityObserver: nil,
      retryBudget: nil
    )
  }
}

extension OperationClient {
  /// The budget of the retries of all operations of this client; nil for a client without one.
  ///
  /// ```swift
  /// if let budget = client.retryBudget { print(budget.snapshot()) }  // client: 30 left, of 0.2 for each run and …
  /// ```
  ///
  /// A client with the defaults of ``DefaultStoreCreator`` has one, except under a test runner.
  public var retryBudget: RetryBudget? { (self.storeCreator as? DefaultStoreCreator)?.retryBudget }
}

extension NetworkObserver where Self == MockNetworkObserver {
  /// The observer of clients without a network observer.
  fileprivate static var alwaysConnected: Self { MockNetworkObserver(initialStatus: .connected) }
}

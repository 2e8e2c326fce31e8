public import OperationActivityObserving
public import OperationBackoff
public import OperationCore
internal import OperationDedupe
public import OperationNetworkObserving
internal import OperationRetry

extension OperationClient {
  /// Gives the operations of a client what nearly all of them want.
  ///
  /// Queries, and all else that a store may run unasked, are retried with backoff, deduplicated, run automatically, and
  /// rerun when the network is back and when the application is active again, if stale and subscribed to. Mutations get retries where you ask for them,
  /// and nothing else. What an operation says itself comes first.
  public struct DefaultStoreCreator: StoreCreator {
    var retryLimit: Int
    var mutationRetryLimit: Int
    /// What the contexts of all operations begin with. Its entries are shared by all stores.
    var entries: OperationContext
    /// The same for operations that may be run unasked.
    var entriesOfQueries: OperationContext
    var surroundings: SurroundingsWatch?

    public func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      guard operation.canRunUnasked else {
        let context = context.adding(self.entries)
        guard self.mutationRetryLimit > 0 else {
          return .detached(operation: operation, initialState: initialState, initialContext: context)
        }
        let mutation = operation.retry(limit: self.mutationRetryLimit)
        return .detached(operation: mutation, initialState: initialState, initialContext: context)
      }
      let store = OperationStore<Operation.State>.detached(
        operation: operation.retry(limit: self.retryLimit).deduplicated(),
        initialState: initialState,
        initialContext: context.adding(self.entriesOfQueries)
      )
      guard let watch = self.surroundings else { return store }
      return store.watched { watch.add($0) }
    }
  }
}

extension OperationClient.StoreCreator where Self == OperationClient.DefaultStoreCreator {
  /// Gives the operations of a client what nearly all of them want.
  ///
  /// - Parameters:
  ///   - retryLimit: How often a query is retried.
  ///   - mutationRetryLimit: How often a mutation is retried.
  ///   - backoff: How long to wait before a retry; nil for exponentially longer, from a second on.
  ///   - delayer: What waits; nil for the deadline queue of the process.
  ///   - automaticRunningSpecification: When queries may be run unasked.
  ///   - networkObserver: Reruns stale queries with subscribers when the network is back; nil for none.
  ///   - activityObserver: Reruns stale queries with subscribers when the application is active again; nil for none.
  public static func `default`(
    retryLimit: Int = 3,
    mutationRetryLimit: Int = 0,
    backoff: OperationBackoffFunction? = nil,
    delayer: (any OperationDelayer & Sendable)? = nil,
    automaticRunningSpecification: any OperationRunSpecification & Sendable = .always(true),
    networkObserver: (any NetworkObserver & Sendable)? = OperationClient.defaultNetworkObserver,
    activityObserver: (any ApplicationActivityObserver & Sendable)? = OperationClient.defaultActivityObserver
  ) -> Self {
    var entries = OperationContext()
    if let backoff { entries.operationBackoffFunction = backoff }
    if let delayer { entries.operationDelayer = delayer }
    var entriesOfQueries = entries
    entriesOfQueries.automaticRunningSpecification = automaticRunningSpecification
    return Self(
      retryLimit: retryLimit,
      mutationRetryLimit: mutationRetryLimit,
      entries: entries,
      entriesOfQueries: entriesOfQueries,
      surroundings: SurroundingsWatch(network: networkObserver, activity: activityObserver)
    )
  }

  /// What tests want: no retries, no delays, no observers.
  public static var defaultTesting: Self {
    .default(retryLimit: 0, backoff: .noBackoff, delayer: .noDelay, networkObserver: nil, activityObserver: nil)
  }
}

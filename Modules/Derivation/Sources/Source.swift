internal import OperationCore
internal import OperationFoundation

/// A store that derived queries read, with a state of any type.
protocol Source: AnyObject, Sendable {
  /// The path of the operation.
  var path: OperationPath { get }
  /// The node of the store if its operation is derived.
  var derivationNode: DerivationNode? { get }
  /// Whether a reader may run the operation. False for one that runs only on request, such as a mutation.
  var allowsAutomaticRuns: Bool { get }
  /// Whether the value should be fetched again.
  var isStale: Bool { get }
  /// Until when the value stays fresh if nothing but the time changes; nil if it is stale or something else decides.
  var freshEnd: Date? { get }
  /// The clock that `freshEnd` is measured by.
  var clock: any OperationClock { get }
  /// Whether the operation has rules for staleness.
  var hasStalenessRules: Bool { get }
  /// Whether a run has said how long the value is fresh.
  var hasFreshPeriodOfRun: Bool { get }
  /// Whether a run that refreshes the value is under way, or about to start.
  var isRefreshing: Bool { get }
  /// Whether the store was invalidated, and its value was not refreshed since.
  var isInvalidated: Bool { get }
  /// The number of the last invalidation of the store; 0 before the first.
  var lastInvalidation: Int { get }
  /// Whether the client keeps the store at its path.
  var isInClient: Bool { get }
  /// Whether the state has a value that was set or is of a known age, or an error.
  var hasResult: Bool { get }
  /// How many values and errors the state has got.
  var resultCount: Int { get }
  /// Whether the state has an error that was set after the value.
  var hasFailed: Bool { get }

  /// Subscribes to the store, and notifies a node after its changes.
  ///
  /// - Parameters:
  ///   - node: The node to notify. The subscription does not keep it alive.
  ///   - runsIfStale: Whether the operation runs when it is stale.
  /// - Returns: The subscription.
  func subscribe(_ node: DerivationNode, runsIfStale: Bool) -> OperationSubscription

  /// Lets the changes of the store advance a revision from now on.
  func observe(for revision: DerivationRevision)

  /// Performs an action after the events that were created before this call.
  func performInEventOrder(_ action: @escaping @Sendable () -> Void)
}

extension OperationStore: Source {
  var derivationNode: DerivationNode? { self.context.derivationNode }

  var clock: any OperationClock { self.context.operationClock }

  var hasResult: Bool { self.state.hasResult }

  var resultCount: Int {
    let state = self.state
    return state.valueUpdateCount + state.errorUpdateCount
  }

  var hasFailed: Bool { self.state.error != nil }

  func observe(for revision: DerivationRevision) {
    // The store of a derived query is observed from its beginning.
    _ = self.reference.observer { SourceObserver(revision, of: nil) }
  }

  func subscribe(_ node: DerivationNode, runsIfStale: Bool) -> OperationSubscription {
    let handler = OperationEventHandler<State>(
      onStateChanged: { [weak node, weak self] _, _ in
        if let self { node?.sourceHasChanged(self) }
      },
      onStoreRemoved: { [weak node, weak self] _ in
        if let self { node?.sourceHasChanged(self) }
      }
    )
    return self.subscribe(named: node.name, runsIfStale: runsIfStale, with: handler)
  }
}

/// A store that a derived query is about to read.
struct FoundStore<State: OperationState & Sendable>: Sendable {
  let store: OperationStore<State>
  /// Whether the client had the store when it was looked up. A cache may drop each store at once.
  let wasInClient: Bool
}

extension OperationState {
  /// Whether there is a value that was set or is of a known age, or an error.
  var hasResult: Bool {
    // An initial value of a known age has a date.
    self.valueUpdateCount > 0 || self.valueLastUpdatedAt != nil || self.error != nil
  }
}

/// A query that is a source whether a run reads it or not.
struct KeptSource: Sendable {
  /// Returns the store of the query in a client.
  let store: @Sendable (OperationClient) -> any Source

  init<Query: QueryRequest>(_ query: Query) {
    self.store = { $0.store(for: query, fileID: "", line: 0) }
  }
}

public import OperationCore
internal import Synchronization

/// Counts the stores of a client that have a run under way, for an activity indicator.
///
/// It counts from the events of the stores, and asks no store again. `ObservableFetchingCount` of `SharingOperation` is
/// made of it; use it to show the count in another way.
public final class FetchingCounter: Sendable {
  /// What is known of a store; not kept while nothing is.
  fileprivate struct Store {
    var isLoading = false
    var isInClient = false

    var isCounted: Bool { self.isLoading && self.isInClient }
  }

  private struct State {
    var stores: [ObjectIdentifier: Store] = [:]
    var count = 0
  }

  private let state = Locked(State())
  private let onChange: @Sendable () -> Void

  /// Creates a counter, which counts from ``start(_:matching:)`` on.
  ///
  /// - Parameter onChange: Called with no lock held after the count has changed. It may have changed again by then.
  public init(onChange: @escaping @Sendable () -> Void) {
    self.onChange = onChange
  }

  /// The number of stores that have a run under way; 0 before the start.
  public var count: Int { self.state.withLock { $0.count } }

  /// Begins to count the stores of a client. Call it once.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - path: The prefix of the paths of the stores that are counted.
  /// - Returns: The subscription, which keeps neither the client nor the stores alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func start(_ client: OperationClient, matching path: OperationPath) -> OperationSubscription {
    client.observe(matching: path, with: LoadingObserver(of: self))
  }

  /// Changes what is known of a store, and calls `onChange` if the count is another one.
  fileprivate func change(_ id: ObjectIdentifier, _ body: (inout Store) -> Void) {
    let isChanged = self.state.withLock { state in
      var store = state.stores[id] ?? Store()
      let wasCounted = store.isCounted
      body(&store)
      state.stores[id] = store.isLoading || store.isInClient ? store : nil
      if store.isCounted == wasCounted { return false }
      state.count += wasCounted ? -1 : 1
      return true
    }
    if isChanged { self.onChange() }
  }
}

/// Tells a counter which stores have a run under way, and which the client has.
private final class LoadingObserver: StoreObserver {
  private weak let counter: FetchingCounter?

  init(of counter: FetchingCounter) {
    self.counter = counter
  }

  var observedEvents: StoreEvent.Kinds { [.states, .membership] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    let id = ObjectIdentifier(store)
    switch event.what {
    case .observed:
      let (isLoading, isInClient) = (store.shownState?.isLoading ?? false, store.isInClient)
      self.counter?.change(id) { ($0.isLoading, $0.isInClient) = (isLoading, isInClient) }
    case .addedToClient: self.counter?.change(id) { $0.isInClient = true }
    case .stateChanged(let shown):
      let isLoading = shown.isLoading
      self.counter?.change(id) { $0.isLoading = isLoading }
    case .removedFromClient: self.counter?.change(id) { $0.isInClient = false }
    case .unobserved: self.counter?.change(id) { $0 = FetchingCounter.Store() }
    default: break
    }
  }
}

internal import Synchronization

/// Counts the stores of a client that have a run under way, for an activity indicator.
///
/// It counts from the events of the stores, and asks no store again. `ObservableFetchingCount` of `SharingOperation` is
/// made of it; use it to show the count in another way.
public final class FetchingCounter: Sendable {
  /// What is known of a store; not kept while nothing is.
  private struct Store {
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
    let following = StoreFollowing(path) { [weak self] runtime, onStoreGone in
      let id = ObjectIdentifier(runtime)
      return StoreListener(
        onStateChanged: { [weak self] state in
          let isLoading = state.isLoading
          self?.change(id) { $0.isLoading = isLoading }
        },
        onStoreGone: { [weak self] in
          onStoreGone()
          self?.change(id) { $0 = Store() }
        }
      )
    }
    return client.follow(with: following, matching: path) { [weak self] runtime in
      // Read with the lock held, so that the last of several threads has the last word.
      self?.change(ObjectIdentifier(runtime)) { $0.isInClient = runtime.isKeptByClient }
    }
  }

  /// Changes what is known of a store, and calls `onChange` if the count is another one.
  private func change(_ id: ObjectIdentifier, _ body: (inout Store) -> Void) {
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

extension StoreRuntime {
  /// Whether a client keeps the store. Nothing is released by this.
  fileprivate var isKeptByClient: Bool { self.entryLock.withLock { _ in self.links.entry != nil } }
}

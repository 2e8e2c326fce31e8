internal import OperationActivityObserving
internal import OperationCore
internal import OperationNetworkObserving
internal import Synchronization

/// Reruns the stores of one creator when the network is back and when the application is active again.
///
/// It does what `rerunOnChange(of:)` does for each store alone, with one subscription for all of them, so that an idle store
/// keeps little for it. It subscribes while there are stores.
final class SurroundingsWatch: Sendable {
  /// What changes, before and after.
  enum Change: Sendable {
    case network(NetworkConnectionStatus, NetworkConnectionStatus)
    case activity(Bool, Bool)
  }

  private struct State {
    var stores: [UInt64: @Sendable (Change) -> Void] = [:]
    var lastID: UInt64 = 0
    /// Counts how often the first store has come.
    var generation: UInt64 = 0
    var subscription: OperationSubscription?
    var network: NetworkConnectionStatus?
    var isActive: Bool?
  }

  private let networkObserver: (any NetworkObserver & Sendable)?
  private let activityObserver: (any ApplicationActivityObserver & Sendable)?
  private let state = Mutex(State())

  /// Returns nil when there is nothing to observe.
  init?(
    network networkObserver: (any NetworkObserver & Sendable)?,
    activity activityObserver: (any ApplicationActivityObserver & Sendable)?
  ) {
    guard networkObserver != nil || activityObserver != nil else { return nil }
    self.networkObserver = networkObserver
    self.activityObserver = activityObserver
  }

  /// Calls `onChange` for each change until the subscription is cancelled.
  func add(_ onChange: @escaping @Sendable (Change) -> Void) -> OperationSubscription {
    let (id, generation) = self.state.withLock { state in
      state.lastID += 1
      state.stores[state.lastID] = onChange
      guard state.stores.count == 1 else { return (state.lastID, UInt64?.none) }
      state.generation += 1
      return (state.lastID, state.generation)
    }
    if let generation { self.start(generation) }
    return OperationSubscription { self.remove(id) }
  }

  private func remove(_ id: UInt64) {
    let (store, subscription) = self.state.withLock { state in
      let store = state.stores.removeValue(forKey: id)
      guard state.stores.isEmpty else { return (store, OperationSubscription?.none) }
      defer { (state.subscription, state.network, state.isActive) = (nil, nil, nil) }
      return (store, state.subscription)
    }
    subscription?.cancel()
    _ = consume store  // Released after the lock.
  }

  private func start(_ generation: UInt64) {
    var subscriptions: [OperationSubscription] = []
    if let observer = self.networkObserver {
      subscriptions.append(observer.subscribe { [weak self] in self?.take($0, \.network, generation, Change.network) })
    }
    if let observer = self.activityObserver {
      subscriptions.append(
        observer.subscribe { [weak self] in self?.take($0, \.isActive, generation, Change.activity) }
      )
    }
    let subscription = OperationSubscription.combined(subscriptions)
    let isObsolete = self.state.withLock { state in
      guard state.generation == generation, !state.stores.isEmpty else { return true }
      state.subscription = subscription
      return false
    }
    if isObsolete { subscription.cancel() }
  }

  private func take<Value: Equatable & Sendable>(
    _ value: Value,
    _ known: any WritableKeyPath<State, Value?> & Sendable,
    _ generation: UInt64,
    _ change: (Value, Value) -> Change
  ) {
    let (former, stores) = self.state.withLock { state in
      guard state.generation == generation else { return (Value?.none, [@Sendable (Change) -> Void]()) }
      let former = state[keyPath: known]
      state[keyPath: known] = value
      // The first value is no change.
      guard let former, former != value else { return (nil, []) }
      return (former, state.stores.sorted { $0.key < $1.key }.map(\.value))
    }
    guard let former else { return }
    let news = change(former, value)
    for store in stores { store(news) }
  }
}

extension SurroundingsWatch.Change {
  /// Whether what an operation needs has come to hold.
  func isRise(in context: OperationContext) -> Bool {
    switch self {
    case .network(let former, let now):
      former < context.satisfiedConnectionStatus && now >= context.satisfiedConnectionStatus
    case .activity(let former, let now):
      !former && now && context.isApplicationActiveRerunningEnabled
    }
  }
}

/// Has a store rerun by a watch.
struct SurroundingsController<State: OperationState & Sendable>: OperationController, Sendable {
  let watch: SurroundingsWatch

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.watch.add { change in
      guard controls.subscriberCount > 0, change.isRise(in: controls.context) else { return }
      controls.rerunForSubscribersSinceChange()
    }
  }
}

internal import OperationActivityObserving
internal import OperationCore
internal import OperationNetworkObserving
internal import Synchronization

/// Reruns the stores of one creator when the network is back and when the application is active again.
///
/// It does the same as `rerunOnChange(of:)` on each store, but with one subscription for all of them, so that an idle
/// store uses little memory. It subscribes while there are stores.
final class EnvironmentObserver: Sendable {
  /// A change, with the value before and the value after.
  enum Change: Sendable {
    case network(NetworkConnectionStatus, NetworkConnectionStatus)
    case activity(Bool, Bool)

    /// What is true after a change that reruns stores.
    var condition: String {
      switch self {
      case .network: "the network is connected"
      case .activity: "the application is active"
      }
    }
  }

  /// A watched store and its links in the list: the only object allocated for watching a store.
  fileprivate final class WatchedStore: @unchecked Sendable {
    // Unchecked because its links are only accessed with the lock of the watch held.
    let store: StoreReference
    let watch: EnvironmentObserver
    var next: WatchedStore?
    // Only the forward links retain, to avoid a retain cycle.
    unowned var previous: WatchedStore?

    init(_ store: StoreReference, _ watch: EnvironmentObserver) {
      self.store = store
      self.watch = watch
    }

    func leave() {
      self.watch.remove(self)
    }
  }

  fileprivate struct State {
    /// The stores in the order in which they were added.
    var first: WatchedStore?
    unowned var last: WatchedStore?
    var subscription = SubscriptionSlot()
    var network: NetworkConnectionStatus?
    var isActive: Bool?
  }

  private let networkObserver: (any NetworkObserver & Sendable)?
  private let activityObserver: (any ApplicationActivityObserver & Sendable)?
  private let state = Mutex(State())

  /// Returns nil without an observer.
  init?(
    network networkObserver: (any NetworkObserver & Sendable)?,
    activity activityObserver: (any ApplicationActivityObserver & Sendable)?
  ) {
    guard networkObserver != nil || activityObserver != nil else { return nil }
    self.networkObserver = networkObserver
    self.activityObserver = activityObserver
  }

  /// Reruns the store after changes until the subscription is cancelled.
  func add(_ store: StoreReference) -> OperationSubscription {
    let watched = WatchedStore(store, self)
    let number = self.state.withLock { state in
      state.append(watched)
      return state.first === watched ? state.subscription.reserve() : nil
    }
    if let number { self.start(number) }
    return OperationSubscription { watched.leave() }
  }

  private func remove(_ watched: WatchedStore) {
    // The caller retains `watched`, so nothing is released with the lock held.
    let subscription = self.state.withLock { state -> OperationSubscription? in
      state.remove(watched)
      guard state.first == nil else { return nil }
      (state.network, state.isActive) = (nil, nil)
      return state.subscription.clear()
    }
    subscription?.cancel()
  }

  private func start(_ number: UInt64) {
    var subscriptions: [OperationSubscription] = []
    if let observer = self.networkObserver {
      subscriptions.append(observer.subscribe { [weak self] in self?.receive($0, \.network, number, Change.network) })
    }
    if let observer = self.activityObserver {
      subscriptions.append(
        observer.subscribe { [weak self] in self?.receive($0, \.isActive, number, Change.activity) }
      )
    }
    let subscription = OperationSubscription.combined(subscriptions)
    self.state.withLock { $0.subscription.keep(subscription, number: number) }?.cancel()
  }

  private func receive<Value: Equatable & Sendable>(
    _ value: Value,
    _ known: any WritableKeyPath<State, Value?> & Sendable,
    _ number: UInt64,
    _ makeChange: (Value, Value) -> Change
  ) {
    let (previous, stores) = self.state.withLock { state in
      guard state.subscription.isCurrent(number) else { return (Value?.none, [StoreReference]()) }
      let previous = state[keyPath: known]
      state[keyPath: known] = value
      // The first value is not a change.
      guard let previous, previous != value else { return (nil, []) }
      return (previous, state.stores)
    }
    guard let previous else { return }
    let change = makeChange(previous, value)
    for store in stores where store.subscriberCount > 0 && change.satisfies(store.context) {
      store.rerunForSubscribers(sinceChange: .condition(change.condition))
    }
  }
}

extension EnvironmentObserver.State {
  fileprivate var stores: [StoreReference] {
    var stores: [StoreReference] = []
    var next = self.first
    while let watched = next {
      stores.append(watched.store)
      next = watched.next
    }
    return stores
  }

  fileprivate mutating func append(_ watched: EnvironmentObserver.WatchedStore) {
    watched.previous = self.last
    if let last = self.last { last.next = watched } else { self.first = watched }
    self.last = watched
  }

  fileprivate mutating func remove(_ watched: EnvironmentObserver.WatchedStore) {
    let next = watched.next.take()
    if let next { next.previous = watched.previous } else { self.last = watched.previous }
    if let previous = watched.previous { previous.next = next } else { self.first = next }
    watched.previous = nil
  }
}

extension EnvironmentObserver.Change {
  /// Whether the condition of an operation with this context holds now and did not hold before.
  func satisfies(_ context: OperationContext) -> Bool {
    switch self {
    case .network(let previous, let now):
      previous < context.satisfiedConnectionStatus && now >= context.satisfiedConnectionStatus
    case .activity(let previous, let now):
      !previous && now && context.isApplicationActiveRerunningEnabled
    }
  }
}

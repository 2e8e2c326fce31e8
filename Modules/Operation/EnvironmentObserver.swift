internal import OperationActivityObserving
internal import OperationCore
internal import OperationNetworkObserving
internal import Synchronization

/// Reruns the stores of clients when the network is back and when the application is active again.
///
/// It does the same as `rerunOnChange(of:)` on each store. A client has one subscription for all of its stores that may
/// run by themselves, while it has any. An idle store uses no memory for it.
struct EnvironmentObserver: Sendable {
  private let network: (any NetworkObserver & Sendable)?
  private let activity: (any ApplicationActivityObserver & Sendable)?

  /// Returns nil without an observer.
  init?(
    network: (any NetworkObserver & Sendable)?,
    activity: (any ApplicationActivityObserver & Sendable)?
  ) {
    guard network != nil || activity != nil else { return nil }
    self.network = network
    self.activity = activity
  }

  /// Reruns the stores of a client after changes from now on.
  func begin(for client: OperationClient) {
    let rerun = client.attachment { EnvironmentRerun(of: client, network: self.network, activity: self.activity) }
    rerun.begin(for: client)
  }
}

/// Counts the stores of one client that may run by themselves, and reruns them. The client keeps it.
private final class EnvironmentRerun: StoreObserver {
  private struct State {
    var storeCount = 0
    var subscription = SubscriptionSlot()
    var network: NetworkConnectionStatus?
    var isActive: Bool?
    /// Keeps this object among the observers of the client.
    var observation: OperationSubscription?
  }

  private weak let client: OperationClient?
  private let network: (any NetworkObserver & Sendable)?
  private let activity: (any ApplicationActivityObserver & Sendable)?
  private let state = Mutex(State())
  private let hasBegun = Atomic(false)

  init(
    of client: OperationClient,
    network: (any NetworkObserver & Sendable)?,
    activity: (any ApplicationActivityObserver & Sendable)?
  ) {
    self.client = client
    self.network = network
    self.activity = activity
  }

  func begin(for client: OperationClient) {
    if self.hasBegun.load(ordering: .relaxed) || self.hasBegun.exchange(true, ordering: .relaxed) { return }
    let observation = client.observe(with: self)
    self.state.withLock { $0.observation = observation }
  }

  var observedEvents: StoreEvent.Kinds { .membership }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    guard event.allowsAutomaticRuns else { return }
    switch event.what {
    case .observed: self.storeCame()
    case .unobserved: self.storeLeft()
    default: break
    }
  }

  private func storeCame() {
    let number = self.state.withLock { state -> UInt64? in
      state.storeCount += 1
      return state.storeCount == 1 ? state.subscription.reserve() : nil
    }
    guard let number else { return }
    var subscriptions: [OperationSubscription] = []
    if let network = self.network {
      subscriptions.append(
        network.subscribe { [weak self] in self?.receive($0, \.network, number, EnvironmentChange.network) }
      )
    }
    if let activity = self.activity {
      subscriptions.append(
        activity.subscribe { [weak self] in self?.receive($0, \.isActive, number, EnvironmentChange.activity) }
      )
    }
    let subscription = OperationSubscription.combined(subscriptions)
    self.state.withLock { $0.subscription.keep(subscription, number: number) }?.cancel()
  }

  private func storeLeft() {
    let subscription = self.state.withLock { state -> OperationSubscription? in
      state.storeCount -= 1
      guard state.storeCount == 0 else { return nil }
      (state.network, state.isActive) = (nil, nil)
      return state.subscription.clear()
    }
    subscription?.cancel()
  }

  private func receive<Value: Equatable & Sendable>(
    _ value: Value,
    _ known: any WritableKeyPath<State, Value?> & Sendable,
    _ number: UInt64,
    _ makeChange: (Value, Value) -> EnvironmentChange
  ) {
    let previous = self.state.withLock { state -> Value? in
      guard state.subscription.isCurrent(number) else { return nil }
      defer { state[keyPath: known] = value }
      return state[keyPath: known]
    }
    // The first value is not a change.
    guard let previous, previous != value, let client = self.client else { return }
    let change = makeChange(previous, value)
    let stores = client.stores { $0.subscriberCount > 0 && change.satisfies($0.context) }
    for store in stores { store.reference.rerunForSubscribers(sinceChange: change.cause) }
  }
}

/// A change, with the value before and the value after.
private enum EnvironmentChange: Sendable {
  case network(NetworkConnectionStatus, NetworkConnectionStatus)
  case activity(Bool, Bool)

  /// Why stores run again after the change.
  var cause: OperationRunCause {
    switch self {
    case .network: .condition("the network is connected")
    case .activity: .condition("the application is active")
    }
  }

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

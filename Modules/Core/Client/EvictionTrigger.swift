extension OperationClient {
  /// Evicts idle stores before their cache time has passed, for example when memory is low or a user signs out.
  ///
  /// Each call passes a condition on the contexts of the stores, which selects the stores to evict. A modifier of your
  /// own can write the context values that the condition reads.
  public protocol EvictionTrigger: Sendable {
    /// Calls `evict` whenever idle stores should be evicted, until the subscription is cancelled.
    ///
    /// Call `evict` from any thread, with no lock held: clients report the removed stores to their subscribers before
    /// it returns.
    func subscribe(
      _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
    ) -> OperationSubscription
  }
}

/// The subscription of a cache to its trigger, which exists only while the cache has idle stores.
final class EvictionLink: Sendable {
  private enum State: Sendable {
    case off
    /// The subscription is being made.
    case pending
    case on(OperationSubscription)
  }

  private let trigger: any OperationClient.EvictionTrigger
  private let state = Locked(State.off)

  init(trigger: any OperationClient.EvictionTrigger) {
    self.trigger = trigger
  }

  /// True if no subscription exists and none is being made.
  var isOff: Bool {
    self.state.withLock { state in
      if case .off = state { true } else { false }
    }
  }

  func turnOn(_ evict: @escaping @Sendable ((OperationContext) -> Bool) -> Void) {
    let isOff = self.state.withLock { state in
      guard case .off = state else { return false }
      state = .pending
      return true
    }
    guard isOff else { return }
    let subscription = self.trigger.subscribe(evict)
    let isObsolete = self.state.withLock { state in
      guard case .pending = state else { return true }
      state = .on(subscription)
      return false
    }
    if isObsolete { subscription.cancel() }
  }

  func turnOff() {
    let state = self.state.withLock { state in
      defer { state = .off }
      return state
    }
    if case .on(let subscription) = state { subscription.cancel() }
  }
}

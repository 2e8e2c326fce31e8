extension OperationClient {
  /// Says when idle stores should go before their time: memory runs short, a user signs out, a plan changes.
  ///
  /// Which of them go it says with each call, by a condition on their contexts: a modifier of yours writes what that reads.
  public protocol EvictionTrigger: Sendable {
    /// Calls `evict` whenever idle stores should go, until the subscription is cancelled.
    ///
    /// Call it from any thread, but while no lock is held: clients announce the stores that go before it returns.
    func subscribe(
      _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
    ) -> OperationSubscription
  }
}

/// Subscribes to a trigger while there is something to evict.
final class EvictionLink: Sendable {
  private enum State: Sendable {
    case off
    /// Somebody is about to subscribe.
    case pending
    case on(OperationSubscription)
  }

  private let trigger: any OperationClient.EvictionTrigger
  private let state = Locked(State.off)

  init(trigger: any OperationClient.EvictionTrigger) {
    self.trigger = trigger
  }

  /// Whether nobody has subscribed, nor is about to.
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

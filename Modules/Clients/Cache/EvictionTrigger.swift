extension OperationClient {
  /// Evicts idle stores before their cache time has passed, for example when memory is low or a user signs out.
  ///
  /// Each call passes a condition on the contexts of the stores, which selects the stores to evict. A modifier of your
  /// own can write the context values that the condition reads. The description of a trigger that is
  /// `CustomStringConvertible` is the reason of its evictions in `client.events`, such as `memory pressure`.
  public protocol EvictionTrigger: Sendable {
    /// Calls `evict` whenever idle stores should be evicted, until the subscription is cancelled.
    ///
    /// Call `evict` from any thread, with no lock held: clients report the removed stores to their subscribers before
    /// it returns.
    ///
    /// - Parameter evict: Receives a closure, and evicts each idle store if the closure returns true for its context.
    /// - Returns: The subscription.
    func subscribe(
      _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
    ) -> OperationSubscription
  }
}

/// The subscription of a cache to its trigger, which exists only while the cache has idle stores.
final class EvictionLink: Sendable {
  private let trigger: any OperationClient.EvictionTrigger
  private let slot = Locked(SubscriptionSlot())

  init(trigger: any OperationClient.EvictionTrigger) {
    self.trigger = trigger
  }

  /// Why the trigger evicts stores.
  var cause: OperationRunCause {
    let name = (self.trigger as? any CustomStringConvertible)?.description ?? OperationName.of(type(of: self.trigger))
    return OperationRunCause(.evictionTrigger, subject: name)
  }

  /// Whether no subscription exists and none is being made.
  var isOff: Bool { !self.slot.withLock { $0.isTaken } }

  func turnOn(_ evict: @escaping @Sendable ((OperationContext) -> Bool) -> Void) {
    let number = self.slot.withLock { $0.isTaken ? nil : $0.reserve() }
    guard let number else { return }
    let subscription = self.trigger.subscribe(evict)
    self.slot.withLock { $0.keep(subscription, number: number) }?.cancel()
  }

  func turnOff() {
    self.slot.withLock { $0.clear() }?.cancel()
  }
}

/// Stores one subscription that is replaced repeatedly, such as a timer. The lock of its owner guards it.
///
/// A subscription may call back before it is stored here, and the callback may start the next one. So the owner
/// reserves the slot first, and a subscription is stored only if its number is the latest.
package struct SubscriptionSlot: Sendable {
  private var subscription: OperationSubscription?
  private var lastNumber: UInt64 = 0
  /// Whether the slot contains a subscription or is reserved for one.
  package private(set) var isTaken = false

  package init() {}

  /// Returns the number of the next subscription. The previous one stays until the next one is stored.
  package mutating func reserve() -> UInt64 {
    self.lastNumber += 1
    self.isTaken = true
    return self.lastNumber
  }

  /// Whether a number is the latest: since then the slot was neither reserved again nor cleared.
  package func isCurrent(_ number: UInt64) -> Bool {
    number == self.lastNumber
  }

  /// Stores a subscription. Returns the one to cancel after unlocking: the previous one, or the given one if it is too
  /// late.
  package mutating func keep(_ subscription: OperationSubscription, number: UInt64) -> OperationSubscription? {
    guard number == self.lastNumber else { return subscription }
    defer { self.subscription = subscription }
    return self.subscription
  }

  /// Returns the subscription to cancel after unlocking. Subscriptions with earlier numbers are no longer stored.
  package mutating func clear() -> OperationSubscription? {
    self.lastNumber += 1
    self.isTaken = false
    return self.subscription.take()
  }
}

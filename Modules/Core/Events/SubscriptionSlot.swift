/// Holds one subscription that is replaced repeatedly, such as a timer. The lock of its owner guards it.
///
/// A subscription may call back before its caller keeps it here, and the callback may start the next one. So a caller
/// reserves the slot first, and a subscription whose number is not the latest is not kept.
package struct SubscriptionSlot: Sendable {
  private var subscription: OperationSubscription?
  private var lastNumber: UInt64 = 0
  /// Whether a subscription is kept, or the slot is reserved for one.
  package private(set) var isTaken = false

  package init() {}

  /// Returns the number of the next subscription. The one before stays until the next one is kept.
  package mutating func reserve() -> UInt64 {
    self.lastNumber += 1
    self.isTaken = true
    return self.lastNumber
  }

  /// Whether the slot has neither been reserved again nor cleared since it was reserved with a number.
  package func isCurrent(_ number: UInt64) -> Bool {
    number == self.lastNumber
  }

  /// Keeps a subscription, and returns the one to cancel after the lock, which may be the same.
  package mutating func keep(_ subscription: OperationSubscription, number: UInt64) -> OperationSubscription? {
    guard number == self.lastNumber else { return subscription }
    defer { self.subscription = subscription }
    return self.subscription
  }

  /// Returns the subscription to cancel after the lock, and keeps none that the slot was reserved for before.
  package mutating func clear() -> OperationSubscription? {
    self.lastNumber += 1
    self.isTaken = false
    return self.subscription.take()
  }
}

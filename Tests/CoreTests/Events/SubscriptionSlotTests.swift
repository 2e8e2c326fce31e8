import OperationCore
import TestFixtures
import Testing

/// A slot whose subscriptions may call back on one thread while the next is made on another.
@Suite(.bounded) struct SubscriptionSlotTests {
  private func subscription() -> OperationSubscription { OperationSubscription {} }

  @Test func `A subscription takes the place of the one before`() {
    var slot = SubscriptionSlot()
    let (first, second) = (self.subscription(), self.subscription())
    expect(slot.keep(first, number: slot.reserve()), equals: nil)
    #expect(slot.keep(second, number: slot.reserve()) === first)
    #expect(slot.clear() === second)
    expect(slot.clear(), equals: nil)
  }

  @Test func `One that has called back before it is kept does not take the place of the next`() {
    var slot = SubscriptionSlot()
    let (first, next) = (self.subscription(), self.subscription())
    let number = slot.reserve()
    expect(slot.keep(next, number: slot.reserve()), equals: nil)
    #expect(slot.keep(first, number: number) === first)
    #expect(slot.clear() === next)
  }

  @Test func `What was begun before the end is not kept after it`() {
    var slot = SubscriptionSlot()
    let subscription = self.subscription()
    let number = slot.reserve()
    expect(slot.clear(), equals: nil)
    #expect(slot.keep(subscription, number: number) === subscription)
    expect(slot.clear(), equals: nil)
  }

  @Test func `A slot is taken from when it is reserved until it is cleared`() {
    var slot = SubscriptionSlot()
    #expect(!slot.isTaken)
    let first = slot.reserve()
    #expect(slot.isTaken)
    #expect(slot.isCurrent(first))
    let second = slot.reserve()
    #expect(!slot.isCurrent(first))
    expect(slot.keep(self.subscription(), number: second), equals: nil)
    #expect(slot.isTaken)
    #expect(slot.isCurrent(second))
    _ = slot.clear()
    #expect(!slot.isTaken)
    #expect(!slot.isCurrent(second))
  }
}

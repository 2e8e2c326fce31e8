import OperationActivityObserving
import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct MockApplicationActivityObserverTests {
  private let observer = MockApplicationActivityObserver(isActive: false)
  private let received = Log<Bool>()

  @Test func `A subscriber receives the current value at once, and then each that is sent`() {
    let subscription = self.observer.subscribe { self.received.append($0) }
    expect(self.received.all, equals: [false])
    self.observer.send(isActive: true)
    self.observer.send(isActive: false)
    expect(self.received.all, equals: [false, true, false])
    #expect(!self.observer.isActive)
    subscription.cancel()
    self.observer.send(isActive: true)
    expect(self.received.count, equals: 3)
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `Active is the first value unless another is given`() {
    #expect(MockApplicationActivityObserver().isActive)
  }

  @Test func `A subscription that is dropped is cancelled, and its handler is released`() {
    weak var captured: Log<Int>?
    do {
      let object = Log<Int>()
      captured = object
      _ = self.observer.subscribe { _ in object.append(1) }
    }
    #expect(captured == nil)
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `Handlers run in the order of their subscriptions, and each value follows the one before it`() {
    let order = Log<Int>()
    let subscriptions = (0..<20).map { index in
      self.observer.subscribe { [observer] isActive in
        order.append(isActive ? index + 100 : index)
        if index == 3, isActive { observer.send(isActive: false) }
      }
    }
    expect(order.all, equals: Array(0..<20))
    self.observer.send(isActive: true)
    expect(Array(order.all.dropFirst(20)), equals: Array(100..<120) + Array(0..<20))
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `A handler may cancel another one, which receives nothing afterwards`() {
    let box = Box<OperationSubscription?>(nil)
    let first = self.observer.subscribe { _ in box.value?.cancel() }
    box.value = self.observer.subscribe { self.received.append($0) }
    self.observer.send(isActive: true)
    expect(self.received.all, equals: [false])
    first.cancel()
  }
}

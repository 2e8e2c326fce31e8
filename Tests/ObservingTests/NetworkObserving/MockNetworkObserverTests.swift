import OperationCore
import OperationNetworkObserving
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded) struct MockNetworkObserverTests {
  private let observer = MockNetworkObserver(initialStatus: .disconnected)
  private let received = Log<NetworkConnectionStatus>()

  @Test func `Statuses are ordered`() {
    #expect(NetworkConnectionStatus.disconnected < .requiresConnection)
    #expect(NetworkConnectionStatus.requiresConnection < .connected)
    expect(NetworkConnectionStatus.allCases.sorted(), equals: NetworkConnectionStatus.allCases)
  }

  @Test func `A subscriber receives the current status at once, and then each that is sent`() {
    let subscription = self.observer.subscribe { self.received.append($0) }
    expect(self.received.all, equals: [.disconnected])
    self.observer.send(status: .connected)
    self.observer.send(status: .requiresConnection)
    expect(self.received.all, equals: [.disconnected, .connected, .requiresConnection])
    expect(self.observer.currentStatus, equals: .requiresConnection)
    subscription.cancel()
  }

  @Test func `Connected is the first status unless another is given`() {
    expect(MockNetworkObserver().currentStatus, equals: .connected)
  }

  @Test func `A cancelled subscriber receives nothing`() {
    let subscription = self.observer.subscribe { self.received.append($0) }
    expect(self.observer.subscriberCount, equals: 1)
    subscription.cancel()
    self.observer.send(status: .connected)
    expect(self.received.all, equals: [.disconnected])
    expect(self.observer.subscriberCount, equals: 0)
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

  @Test func `Handlers run in the order of their subscriptions`() {
    let order = Log<Int>()
    var subscriptions = (0..<100).map { index in self.observer.subscribe { _ in order.append(index) } }
    subscriptions.remove(at: 50).cancel()
    let late = self.observer.subscribe { _ in order.append(100) }
    let before = order.count
    self.observer.send(status: .connected)
    expect(Array(order.all.dropFirst(before)), equals: Array(0..<50) + Array(51...100))
    late.cancel()
  }

  @Test func `A handler may cancel itself and another one, which receives nothing afterwards`() {
    let box = Box<[OperationSubscription]?>(nil)
    let first = self.observer.subscribe { _ in
      for subscription in box.value ?? [] { subscription.cancel() }
    }
    let second = self.observer.subscribe { self.received.append($0) }
    box.value = [first, second]
    self.observer.send(status: .connected)
    expect(self.received.all, equals: [.disconnected])
    expect(self.observer.subscriberCount, equals: 0)
  }

  @Test func `A status that a handler sends is delivered after the current one`() {
    let first = self.observer.subscribe { [observer] status in
      if status == .requiresConnection { observer.send(status: .connected) }
    }
    let second = self.observer.subscribe { self.received.append($0) }
    self.observer.send(status: .requiresConnection)
    expect(self.received.all, equals: [.disconnected, .requiresConnection, .connected])
    first.cancel()
    second.cancel()
  }

  @Test func `A subscription in a handler receives the current status once`() {
    let box = Box<OperationSubscription?>(nil)
    let first = self.observer.subscribe { [observer, received] status in
      guard status == .connected else { return }
      box.value = observer.subscribe { received.append($0) }
    }
    self.observer.send(status: .connected)
    expect(self.received.all, equals: [.connected])
    self.observer.send(status: .disconnected)
    expect(self.received.all, equals: [.connected, .disconnected])
    first.cancel()
    box.value?.cancel()
  }

  @Test func `A status sent while the subscription is made is received`() {
    let subscription = self.observer.subscribe { [observer, received] status in
      received.append(status)
      if status == .disconnected { observer.send(status: .connected) }
    }
    expect(self.received.all, equals: [.disconnected, .connected])
    subscription.cancel()
  }

  @Test func `Under concurrent sends each handler ends with the current status`() async {
    let last = (0..<8).map { _ in Box<NetworkConnectionStatus?>(nil) }
    let observer = self.observer
    let subscriptions: [OperationSubscription] = await withTaskGroup(of: OperationSubscription?.self) { group in
      for index in 0..<8 {
        group.addTask { observer.subscribe { last[index].value = $0 } }
        group.addTask {
          for status in NetworkConnectionStatus.allCases { observer.send(status: status) }
          return nil
        }
      }
      return await group.reduce(into: [OperationSubscription]()) { subscriptions, subscription in
        if let subscription { subscriptions.append(subscription) }
      }
    }
    #expect(last.allSatisfy { $0.value == observer.currentStatus })
    for subscription in subscriptions { subscription.cancel() }
    expect(observer.subscriberCount, equals: 0)
  }

  @Test func `An erased observer forwards to its base`() {
    let erased = AnySendableNetworkObserver(self.observer)
    let subscription = erased.subscribe { self.received.append($0) }
    self.observer.send(status: .connected)
    expect(self.received.all, equals: [.disconnected, .connected])
    subscription.cancel()
    expect(self.observer.subscriberCount, equals: 0)
  }
}

import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A source that is at work while it has listeners.
@Suite(.bounded)
struct OnDemandBroadcastTests {
  /// A source that is steered by hand.
  private final class Spring: Sendable {
    let startCount = Box(0)
    let stopCount = Box(0)
    let send = Box<(@Sendable (Int) -> Void)?>(nil)
    let present = Box(7)

    var isAtWork: Bool { self.startCount.value > self.stopCount.value }

    func broadcast() -> OnDemandBroadcast<Int> {
      OnDemandBroadcast {
        self.present.value
      } start: { send in
        self.startCount.value += 1
        self.send.value = send
        return OperationSubscription {
          self.stopCount.value += 1
          self.send.value = nil
        }
      }
    }
  }

  private let spring = Spring()
  private let log = Log<String>()

  @Test
  func `The first subscriber receives the present value and starts the source, the last one stops it`() async {
    let broadcast = self.spring.broadcast()
    #expect(!self.spring.isAtWork)
    self.spring.present.value = 8
    let first = broadcast.subscribe { self.log.append("first \($0)") }
    expect(self.log.all, equals: ["first 8"])
    await broadcast.settled()
    #expect(self.spring.isAtWork)
    self.spring.send.value?(9)
    await broadcast.settled()
    self.spring.present.value = 10
    let second = broadcast.subscribe { self.log.append("second \($0)") }
    expect(self.log.all, equals: ["first 8", "first 9", "second 9"])
    first.cancel()
    await broadcast.settled()
    #expect(self.spring.isAtWork)
    second.cancel()
    await broadcast.settled()
    expect(self.spring.startCount.value, equals: 1)
    expect(self.spring.stopCount.value, equals: 1)
    broadcast.subscribe { self.log.append("third \($0)") }.cancel()
    expect(self.log.all.last, equals: "third 10")
  }

  @Test
  func `Values are delivered in order, one after the other, and not by the sender`() async {
    let broadcast = self.spring.broadcast()
    let subscription = broadcast.subscribe { value in
      self.log.append("\(value)")
      // It is delivered after those that were sent before.
      if value == 1 { broadcast.send(100) }
    }
    await broadcast.settled()
    for value in 1...3 { broadcast.send(value) }
    await broadcast.settled()
    let values = self.log.all.dropFirst()
    expect(values.filter { $0 != "100" }, equals: ["1", "2", "3"])
    #expect(values.contains("100"))
    subscription.cancel()
  }

  @Test
  func `Cancelling while a lock is held that a handler wants does not wait`() async throws {
    let broadcast = self.spring.broadcast()
    let lock = Mutex(0)
    let subscription = broadcast.subscribe { value in
      if value == 1 { lock.withLock { $0 += 1 } }
    }
    try await withTimeLimit("the end of the cancellation") {
      lock.withLock { _ in
        broadcast.send(1)
        subscription.cancel()
      }
      await broadcast.settled()
    }
    #expect(!self.spring.isAtWork)
  }

  @Test
  func `A cancelled subscriber receives nothing that was sent before`() async {
    let broadcast = self.spring.broadcast()
    let subscription = broadcast.subscribe { value in
      self.log.append("\(value)")
      if value == 1 {
        broadcast.send(2)
        broadcast.send(3)
      }
    }
    subscription.cancel()
    broadcast.send(1)
    await broadcast.settled()
    expect(self.log.all, equals: ["7"])
  }

  @Test
  func `A new subscriber receives the last value that was sent, and none that was sent before`() async {
    let broadcast = self.spring.broadcast()
    let kept = Box<OperationSubscription?>(nil)
    let subscription = broadcast.subscribe { value in
      self.log.append("first \(value)")
      guard value == 1 else { return }
      broadcast.send(2)
      broadcast.send(3)
      kept.value = broadcast.subscribe { self.log.append("second \($0)") }
      self.log.append("subscribed")
    }
    broadcast.send(1)
    await broadcast.settled()
    expect(self.log.all, equals: ["first 7", "first 1", "second 3", "subscribed", "first 2", "first 3"])
    kept.value?.cancel()
    subscription.cancel()
  }

  @Test
  func `A value that is sent while the first subscriber reads the current one is newer`() async {
    let isArmed = Box(false)
    let own = Box<OnDemandBroadcast<Int>?>(nil)
    let broadcast = OnDemandBroadcast<Int> {
      if isArmed.value { own.value?.send(9) }
      return 7
    } start: { _ in
      .empty
    }
    (own.value, isArmed.value) = (broadcast, true)
    let subscription = broadcast.subscribe { self.log.append("\($0)") }
    await broadcast.settled()
    expect(self.log.all, equals: ["9"])
    expect(broadcast.value, equals: 9)
    subscription.cancel()
    own.value = nil
  }

  @Test
  func `While the source stops a new subscriber receives the last value that was sent`() async {
    let readCount = Box(0)
    let (own, kept) = (Box<OnDemandBroadcast<Int>?>(nil), Box<OperationSubscription?>(nil))
    let broadcast = OnDemandBroadcast<Int> {
      readCount.value += 1
      return 7
    } start: { send in
      OperationSubscription {
        guard kept.value == nil else { return }
        kept.value = own.value?.subscribe { self.log.append("\($0)") }
        send(9)
      }
    }
    own.value = broadcast
    let subscription = broadcast.subscribe { _ in }
    await broadcast.settled()
    let formerCount = readCount.value
    subscription.cancel()
    await broadcast.settled()
    expect(self.log.all, equals: ["7", "9"])
    expect(readCount.value, equals: formerCount)
    kept.value?.cancel()
    await broadcast.settled()
    own.value = nil
  }

  @Test
  func `Subscriptions that come and go leave the source stopped`() async {
    let broadcast = self.spring.broadcast()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for round in 0..<100 {
            let subscription = broadcast.subscribe { _ in }
            if round.isMultiple(of: 7) { await broadcast.settled() }
            subscription.cancel()
          }
        }
      }
    }
    await broadcast.settled()
    #expect(!self.spring.isAtWork)
    expect(self.spring.startCount.value, equals: self.spring.stopCount.value)
  }

  @Test
  func `A broadcast lives as long as its subscribers`() async {
    weak var witness: OnDemandBroadcast<Int>?
    var subscription: OperationSubscription?
    do {
      let broadcast = self.spring.broadcast()
      witness = broadcast
      subscription = broadcast.subscribe { _ in }
      await broadcast.settled()
    }
    #expect(witness != nil)
    #expect(subscription != nil)
    subscription?.cancel()
    await witness?.settled()
    #expect(!self.spring.isAtWork)
    subscription = nil
  }
}

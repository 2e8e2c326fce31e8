import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded) struct OperationSubscriptionTests {
  @Test func `A subscription is cancelled once`() {
    let count = Atomic(0)
    var subscription: OperationSubscription? = OperationSubscription { count.add(1, ordering: .relaxed) }
    expect(count.load(ordering: .relaxed), equals: 0)
    subscription?.cancel()
    expect(count.load(ordering: .relaxed), equals: 1)
    subscription?.cancel()
    subscription = nil
    expect(count.load(ordering: .relaxed), equals: 1)
  }

  @Test func `A subscription is cancelled when its last reference goes`() {
    let count = Atomic(0)
    var first: OperationSubscription? = OperationSubscription { count.add(1, ordering: .relaxed) }
    var second = first
    first = nil
    #expect(second != nil)
    expect(count.load(ordering: .relaxed), equals: 0)
    second = nil
    expect(count.load(ordering: .relaxed), equals: 1)
  }

  @Test func `A subscription is cancelled once when threads race`() async {
    for _ in 0..<200 {
      let count = Atomic(0)
      let subscription = OperationSubscription { count.add(1, ordering: .relaxed) }
      await onThreads(2) { _ in subscription.cancel() }
      expect(count.load(ordering: .relaxed), equals: 1)
    }
  }

  @Test func `A subscription may be cancelled by its own action`() {
    let count = Atomic(0)
    let holder = Mutex<OperationSubscription?>(nil)
    let subscription = OperationSubscription {
      count.add(1, ordering: .relaxed)
      holder.withLock { $0 }?.cancel()
    }
    holder.withLock { $0 = subscription }
    subscription.cancel()
    expect(count.load(ordering: .relaxed), equals: 1)
    holder.withLock { $0 = nil }
  }

  @Test func `A cancelled subscription releases its action`() {
    let lifetimes = LifetimeTracker()
    let subscription = OperationSubscription { [token = lifetimes.token()] in token.touch() }
    expect(lifetimes.aliveCount, equals: 1)
    subscription.cancel()
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test func `Combined subscriptions are cancelled in order`() {
    let names = Mutex<[Int]>([])
    func subscription(_ name: Int) -> OperationSubscription {
      OperationSubscription { names.withLock { $0.append(name) } }
    }
    let inner = OperationSubscription.combined([subscription(2), subscription(3)])
    let combined = OperationSubscription.combined(subscription(1), inner, .empty)
    expect(names.withLock { $0 }, equals: [])
    combined.cancel()
    combined.cancel()
    expect(names.withLock { $0 }, equals: [1, 2, 3])

    var dropped: OperationSubscription? = .combined([subscription(4), subscription(5)])
    #expect(dropped != nil)
    dropped = nil
    expect(names.withLock { $0 }, equals: [1, 2, 3, 4, 5])
    OperationSubscription.combined([]).cancel()
    OperationSubscription.empty.cancel()
  }

  @Test func `A subscription is stored in collections`() {
    let count = Atomic(0)
    var set: Set<OperationSubscription> = []
    var array: [OperationSubscription] = []
    for _ in 0..<3 {
      OperationSubscription { count.add(1, ordering: .relaxed) }.store(in: &set)
      OperationSubscription { count.add(1, ordering: .relaxed) }.store(in: &array)
    }
    expect(set.count, equals: 3)
    expect(array.count, equals: 3)
    let one = array[0]
    one.store(in: &set)
    one.store(in: &set)
    expect(set.count, equals: 4)
    array = []
    expect(count.load(ordering: .relaxed), equals: 2)
    set = []
    expect(count.load(ordering: .relaxed), equals: 5)
    one.cancel()
    expect(count.load(ordering: .relaxed), equals: 6)
  }

  @Test func `A subscription is equal to itself alone`() {
    let (one, other) = (OperationSubscription {}, OperationSubscription {})
    expect(one, equals: one)
    #expect(one != other)
    expect(OperationSubscription.empty, equals: OperationSubscription.empty)
    #expect(OperationSubscription.empty != one)
  }
}

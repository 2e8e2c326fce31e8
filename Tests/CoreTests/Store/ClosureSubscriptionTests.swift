import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Subscriptions with a closure alone, on any thread or on an actor.
@Suite(.bounded, .warningsAreIssues)
struct ClosureSubscriptionTests {
  private let script = IntScript()

  private var store: IntStore { .detached(query: self.script.query()) }

  @Test
  func `A closure receives the current state and later ones`() {
    let store = self.store
    let values = Mutex<[Int?]>([])
    let subscription = store.subscribe { state in values.withLock { $0.append(state.currentValue) } }
    store.currentValue = 1
    store.currentValue = 2
    expect(store.subscriberCount, equals: 1)
    subscription.cancel()
    store.currentValue = 3
    expect(values.withLock { $0 }, equals: [nil, 1, 2])
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `A closure that subscribes starts a run`() async throws {
    let store = OperationStore.detached(query: self.script.automaticQuery())
    let subscription = store.subscribe { _ in }
    let run = try await self.script.next()
    subscription.cancel()
    try await run.cancelled()
  }

  @Test @MainActor
  func `On the main actor a closure may touch what is isolated to it, and has the state at once`() async throws {
    let store = self.store
    store.currentValue = 1
    var seen: [Int?] = []
    let arrivals = Gate()
    let subscription = store.subscribe(on: MainActor.shared) { state in
      seen.append(state.currentValue)
      if state.currentValue == 4 { arrivals.open() }
    }
    expect(seen, equals: [1])
    for value in 2...4 { store.currentValue = value }
    expect(seen, equals: [1])
    try await arrivals.wait()
    expect(seen, equals: [1, 4])
    subscription.cancel()
    expect(store.subscriberCount, equals: 0)
  }

  @Test @MainActor
  func `Cancelled on its actor, a closure receives nothing more, whatever is queued`() async throws {
    let store = self.store
    var count = 0
    var subscription: OperationSubscription? = store.subscribe(on: MainActor.shared) { _ in count += 1 }
    expect(count, equals: 1)
    store.currentValue = 2
    subscription?.cancel()
    subscription = nil
    let later = Gate()
    let other = store.subscribe(on: MainActor.shared) { state in
      if state.currentValue == 3 { later.open() }
    }
    store.currentValue = 3
    try await later.wait()
    expect(count, equals: 1)
    other.cancel()
  }

  @Test
  func `On an actor the states come in order, the last one last, on whatever thread they change`() async throws {
    let store = self.store
    let log = Log()
    let subscription = store.subscribe(on: log) { log, state in log.note(state.valueUpdateCount) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for value in 0..<500 { store.currentValue = value }
        }
      }
    }
    try await log.reached(4_000)
    let seen = await log.counts
    expect(seen, equals: seen.sorted())
    expect(Set(seen).count, equals: seen.count)
    subscription.cancel()
  }

  @Test
  func `A closure that cancels its own subscription receives nothing more`() async throws {
    let store = self.store
    let log = Log()
    let slot = Mutex<OperationSubscription?>(nil)
    let subscription = store.subscribe(on: log) { log, state in
      if state.valueUpdateCount == 1 { slot.withLock { $0.take() }?.cancel() }
      log.note(state.valueUpdateCount)
    }
    slot.withLock { $0 = subscription }
    try await log.reached(0)
    store.currentValue = 1
    try await log.reached(1)
    store.currentValue = 2
    expect(store.subscriberCount, equals: 0)
    await expect(log.counts.last, equals: 1)
  }

  @Test
  func `Nothing is left of subscriptions on actors`() async throws {
    let tracker = LifetimeTracker()
    let store = self.store
    for _ in 0..<1_000 {
      let token = tracker.token()
      let log = Log()
      let subscription = store.subscribe(on: log) { log, state in
        token.touch()
        log.note(state.valueUpdateCount)
      }
      store.currentValue = 1
      subscription.cancel()
    }
    try await tracker.noneAlive()
    expect(store.subscriberCount, equals: 0)
  }
}

/// An actor that notes counts, and lets tests wait for one.
private actor Log {
  private(set) var counts: [Int] = []
  private var waiters: [(count: Int, gate: Gate)] = []

  func note(_ count: Int) {
    self.counts.append(count)
    for waiter in self.waiters where waiter.count <= count { waiter.gate.open() }
  }

  nonisolated func reached(_ count: Int) async throws {
    try await self.gate(for: count).wait()
  }

  private func gate(for count: Int) -> Gate {
    let gate = Gate(isOpen: (self.counts.last ?? -1) >= count)
    self.waiters.append((count, gate))
    return gate
  }
}

import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Each store that was announced as added is announced as removed once, however it leaves.
@Suite(.bounded, .warningsAreIssues)
struct LeavingTests {
  private let clock = ManualClock()
  private let path = NumberQuery(1).path

  private func client(_ cache: OperationClient.DefaultStoreCache = .init()) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    return OperationClient(defaultContext: context, storeCache: cache)
  }

  private var addedAndRemoved: [String] { ["+ \(self.path)", "- \(self.path)"] }

  @Test
  func `A held store past its time is announced when the client is cleared`() {
    let (client, log) = (self.client(), Log<String>())
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    let held = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(300))
    expect(log.all, equals: ["+ \(self.path)"])
    #expect(client.clearStore(with: self.path)?.base as? IntStore === held)
    #expect(client.clearStore(with: self.path) == nil)
    expect(log.all, equals: self.addedAndRemoved)
    client.clearStores()
    expect(log.all, equals: self.addedAndRemoved)
  }

  @Test
  func `A held store past its time is announced when another replaces it`() {
    let (client, log) = (self.client(), Log<String>())
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    let held = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(300))
    client.withStores(of: IntState.self) { stores, createStore in
      stores.update(createStore(for: NumberQuery(1)))
    }
    expect(log.all, equals: self.addedAndRemoved + ["+ \(self.path)"])
    #expect(client.store(for: NumberQuery(1)) !== held)
  }

  @Test
  func `A held store past its time is announced when its last reference is released, with its last state`() {
    let (client, log) = (self.client(), Log<String>())
    let removed = Box<[OpaqueOperationStore]>([])
    let typed = Box<[IntStore]>([])
    let subscriptions = [
      client.announcing(to: log),
      client.subscribe { removed.value += $0.storesRemoved },
      client.subscribe(state: IntState.self) { typed.value += $0.storesRemoved },
    ]
    defer { for subscription in subscriptions { subscription.cancel() } }
    var held: IntStore? = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(300))
    held?.currentValue = 7
    expect(log.all, equals: ["+ \(self.path)"])
    held = nil
    expect(log.all, equals: self.addedAndRemoved)
    expect(removed.value.map(\.path), equals: [self.path])
    expect(typed.value.map(\.currentValue), equals: [7])
    #expect(client.stores().isEmpty)
    // The client does not keep the store in the event, which stands for the released one.
    removed.value = []
    typed.value = []
    _ = client.store(for: NumberQuery(1))
    expect(log.all, equals: self.addedAndRemoved + ["+ \(self.path)"])
    expect(client.stores().count, equals: 1)
  }

  @Test
  func `A store that is kept again past its time is announced when it is evicted in the end`() {
    let (client, log) = (self.client(), Log<String>())
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    var held: IntStore? = client.store(for: NumberQuery(1))
    for _ in 0..<3 {
      self.clock.advance(by: .seconds(300))
      #expect(client.store(for: NumberQuery(1)) === held)
    }
    held = nil
    expect(log.all, equals: ["+ \(self.path)"])
    self.clock.advance(by: .seconds(300))
    expect(log.all, equals: self.addedAndRemoved)
  }

  @Test
  func `Looking at stores while they are evicted finds each held one, and no other`() async {
    for round in 0..<300 {
      let client = self.client(OperationClient.DefaultStoreCache(maximumIdleStores: 0))
      let held = client.store(for: NumberQuery(1))
      let mistakes = Counter()
      await onThreads(3) { number in
        for _ in 0..<30 {
          switch number {
          case 0:
            let found = client.stores(of: IntState.self)[NumberQuery(1).path]
            if found !== held { mistakes.increment() }
          case 1:
            if client.store(with: NumberQuery(1).path)?.base as? IntStore !== held { mistakes.increment() }
          default:
            held.subscribe(with: IntRecorder().handler).cancel()
          }
        }
      }
      guard mistakes.value == 0 else {
        Issue.record("\(mistakes.value) look-ups in round \(round) have not found the store that is held.")
        return
      }
    }
  }

  @Test
  func `Adding and removing are announced by turns while threads find, hold, evict and clear`() async {
    let client = self.client(OperationClient.DefaultStoreCache(maximumIdleStores: 0))
    let balance = Box(0)
    let mistakes = Counter()
    let subscription = client.subscribe { change in
      // Called for one change after the other.
      balance.value += change.storesAdded.count - change.storesRemoved.count
      if !(0...1).contains(balance.value) { mistakes.increment() }
    }
    defer { subscription.cancel() }
    await onThreads(3) { number in
      for lifecycle in 0..<2_000 {
        let store = client.store(for: NumberQuery(1))
        let subscription = lifecycle.isMultiple(of: 2) ? store.subscribe(with: IntRecorder().handler) : nil
        if number == 0, lifecycle.isMultiple(of: 7) { client.clearStores() }
        for other in client.stores(of: IntState.self) where other.path != store.path { mistakes.increment() }
        subscription?.cancel()
      }
    }
    expect(mistakes.value, equals: 0)
    expect(balance.value, equals: client.stores().count)
    client.clearStores()
    expect(balance.value, equals: 0)
  }
}

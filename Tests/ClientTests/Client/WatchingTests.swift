import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `subscribe(matching:)`: the stores that are added and removed.
@Suite(.bounded, .warningsAreIssues)
struct WatchingTests {
  @Test
  func `Stores that are added and removed at matching paths are announced, in order`() {
    let client = OperationClient()
    _ = client.store(for: NumberQuery(0))
    let log = Log<String>()
    let subscription = client.announcing(to: log, matching: ["numbers"])
    _ = client.store(for: NumberQuery(1))
    _ = client.store(for: NumberQuery(1))
    _ = client.store(for: TextQuery("a"))
    client.clearStore(with: ["numbers", 1])
    client.clearStore(with: ["numbers", 1])
    client.clearStores()
    subscription.cancel()
    _ = client.store(for: NumberQuery(2))
    expect(
      log.all,
      equals: [
        "+ \(NumberQuery(1).path)", "- \(NumberQuery(1).path)", "- \(NumberQuery(0).path)",
      ]
    )
  }

  @Test
  func `An event "added" comes after the store is there, and "removed" after it is gone`() {
    let client = OperationClient()
    let log = Log<String>()
    let subscription = client.subscribe { change in
      for store in change.storesAdded {
        let isSame = client.store(with: store.path)?.base as? IntStore === store.base as? IntStore
        log.append(isSame ? "added" : "added, but not there")
      }
      for store in change.storesRemoved {
        log.append(client.store(with: store.path) == nil ? "removed" : "removed, but still there")
      }
    }
    defer { subscription.cancel() }
    _ = client.store(for: NumberQuery(1))
    client.clearStores()
    client.withStores(of: IntState.self) { stores, createStore in
      stores.update(createStore(for: NumberQuery(2)))
    }
    client.withStores(of: IntState.self) { stores, _ in _ = stores.removeValue(forPath: NumberQuery(2).path) }
    expect(log.all, equals: ["added", "removed", "added", "removed"])
  }

  @Test
  func `Watchers of a state are notified of stores with that state alone`() {
    let client = OperationClient()
    let added = Box<[IntStore]>([])
    let removed = Box<[IntStore]>([])
    let calls = Counter()
    let subscription = client.subscribe(state: IntState.self) { change in
      calls.increment()
      added.value += change.storesAdded
      removed.value += change.storesRemoved
    }
    defer { subscription.cancel() }
    let store = client.store(for: NumberQuery(1))
    _ = client.store(for: TextQuery("a"))
    client.clearStores()
    expect(added.value.map(ObjectIdentifier.init), equals: [ObjectIdentifier(store)])
    expect(removed.value.map(ObjectIdentifier.init), equals: [ObjectIdentifier(store)])
    expect(calls.value, equals: 2)
  }

  @Test
  func `A watcher is notified of no change from before its subscription`() {
    let client = OperationClient()
    let (early, late) = (Log<String>(), Log<String>())
    let own = Box<OperationSubscription?>(nil)
    let first = client.subscribe { change in
      guard own.value == nil, change.storesAdded[NumberQuery(1).path] != nil else { return }
      // Its change is reported after the current one.
      _ = client.store(for: NumberQuery(2))
      own.value = client.announcing(to: late)
      _ = client.store(for: NumberQuery(3))
    }
    let second = client.announcing(to: early)
    _ = client.store(for: NumberQuery(1))
    expect(early.all, equals: [1, 2, 3].map { "+ \(NumberQuery($0).path)" })
    expect(late.all, equals: ["+ \(NumberQuery(3).path)"])
    for subscription in [first, second] { subscription.cancel() }
    own.value?.cancel()
  }

  @Test
  func `A watcher that an earlier one cancels is no longer notified`() {
    let client = OperationClient()
    let log = Log<String>()
    let other = Box<OperationSubscription?>(nil)
    let first = client.subscribe { _ in other.value?.cancel() }
    other.value = client.announcing(to: log)
    _ = client.store(for: NumberQuery(1))
    expect(log.all, equals: [])
    first.cancel()
  }

  @Test
  func `A watcher may do anything to the client`() {
    let client = OperationClient()
    let log = Log<String>()
    let own = Box<OperationSubscription?>(nil)
    own.value = client.subscribe { change in
      for store in change.storesAdded where store.path == NumberQuery(1).path {
        _ = client.store(for: NumberQuery(2))
        client.clearStore(with: store.path)
        own.value?.cancel()
      }
    }
    let other = client.announcing(to: log)
    defer { other.cancel() }
    _ = client.store(for: NumberQuery(1))
    expect(log.all, equals: ["+ \(NumberQuery(1).path)", "+ \(NumberQuery(2).path)", "- \(NumberQuery(1).path)"])
    _ = client.store(for: NumberQuery(1))
    #expect(client.store(with: NumberQuery(1).path) != nil)
  }

  @Test
  func `No lock is held while a watcher is called`() async throws {
    let client = OperationClient()
    let results = Box<[Bool]>([])
    try await offThePool {
      let subscription = client.subscribe(matching: ["numbers"]) { _ in
        let isDone = onAnotherThread {
          _ = client.store(for: TextQuery("a"))
          _ = client.stores().count
          client.withStores(matching: ["texts"]) { _, _ in }
          client.defaultContext = OperationContext()
          client.clearStores(matching: ["texts"])
        }
        results.value += [isDone]
      }
      _ = client.store(for: NumberQuery(1))
      client.withStores(of: IntState.self) { stores, createStore in
        stores.update(createStore(for: NumberQuery(2)))
      }
      client.clearStores()
      subscription.cancel()
    }
    expect(results.value, equals: [true, true, true])
  }

  @Test
  func `No lock is held when the client releases a store`() async throws {
    let client = OperationClient()
    let results = Box<[Bool]>([])
    try await offThePool {
      for way in 0..<3 {
        _ = client.store(
          for: NumberQuery(1).controlled(
            by: EndingController {
              results.value += [onAnotherThread { _ = client.stores().count + client.snapshot().stores.count }]
            }
          )
        )
        switch way {
        case 0: client.clearStores()
        case 1: client.clearStore(with: NumberQuery(1).path)
        default: client.withStores(of: IntState.self) { stores, _ in stores.removeAll(matching: []) }
        }
      }
    }
    expect(results.value, equals: [true, true, true])
  }
}

private struct EndingController: OperationController, Sendable {
  let onEnd: @Sendable () -> Void

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    OperationSubscription(onCancel: self.onEnd)
  }
}

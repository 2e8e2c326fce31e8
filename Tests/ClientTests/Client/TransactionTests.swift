import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `withStores`: stores edited as a whole.
@Suite(.bounded, .warningsAreIssues)
struct TransactionTests {
  @Test
  func `Stores that are created and inserted are found`() {
    let client = OperationClient()
    let made = client.withStores(matching: ["numbers"], of: IntState.self) { stores, createStore in
      let store = createStore(for: NumberQuery(3), initialValue: 30)
      #expect(client.store(with: store.path) == nil)
      stores.update(store)
      #expect(stores[store.path] === store)
      return store
    }
    #expect(client.store(for: NumberQuery(3)) === made)
    expect(made.currentValue, equals: 30)
    #expect(made.context.operationClient === client)
  }

  @Test
  func `A store that is created and not inserted is not kept`() {
    let client = OperationClient()
    let made = client.withStores { _, createStore in createStore(for: NumberQuery(3)) }
    #expect(client.store(for: NumberQuery(3)) !== made)
  }

  @Test
  func `Replacing a store announces both`() {
    let client = OperationClient()
    let old = client.store(for: NumberQuery(1))
    let added = Box<[IntStore]>([])
    let removed = Box<[IntStore]>([])
    let log = Log<String>()
    let subscription = client.subscribe(state: IntState.self) { change in
      added.value += change.storesAdded
      removed.value += change.storesRemoved
      if !change.storesRemoved.isEmpty { log.append("removed") }
      if !change.storesAdded.isEmpty { log.append("added") }
    }
    defer { subscription.cancel() }
    let new = client.withStores(of: IntState.self) { stores, createStore in
      let new = createStore(for: NumberQuery(1), initialState: QueryState(initialValue: 2))
      stores.update(new)
      return new
    }
    #expect(client.store(for: NumberQuery(1)) === new)
    expect(removed.value.map(ObjectIdentifier.init), equals: [ObjectIdentifier(old)])
    expect(added.value.map(ObjectIdentifier.init), equals: [ObjectIdentifier(new)])
    expect(log.all, equals: ["removed", "added"])
  }

  @Test
  func `Replacing the same store with itself announces nothing`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    let log = Log<String>()
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    client.withStores(of: IntState.self) { stores, _ in stores.update(store) }
    client.withStores { stores, _ in stores.update(OpaqueOperationStore(erasing: store)) }
    #expect(log.all.isEmpty)
    #expect(client.store(for: NumberQuery(1)) === store)
  }

  @Test
  func `Stores that are removed are no longer found; others stay`() {
    let client = OperationClient()
    for number in 0..<4 { _ = client.store(for: NumberQuery(number)) }
    client.withStores(matching: ["numbers"], of: IntState.self) { stores, _ in
      expect(stores.count, equals: 4)
      _ = stores.removeValue(forPath: NumberQuery(2).path)
    }
    expect(client.stores().count, equals: 3)
    client.withStores(matching: ["numbers", 3]) { stores, _ in stores.removeAll(matching: []) }
    expect(client.stores().count, equals: 2)
  }

  @Test
  func `An edit that throws changes nothing`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    #expect(throws: Refused()) {
      try client.withStores(of: IntState.self) { stores, createStore throws(Refused) in
        stores.update(createStore(for: NumberQuery(2)))
        stores.removeAll(matching: [])
        throw Refused()
      }
    }
    expect(client.stores().count, equals: 1)
    #expect(client.store(for: NumberQuery(1)) === store)
  }

  @Test
  func `Edits by two threads are carried out one at a time`() async {
    let client = OperationClient()
    await withDiscardingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<200 {
            client.withStores(of: IntState.self) { stores, createStore in
              stores.update(createStore(for: NumberQuery(stores.count)))
            }
          }
        }
      }
    }
    expect(client.stores().count, equals: 400)
  }

  @Test
  func `Edits may be nested`() {
    let client = OperationClient()
    client.withStores(of: IntState.self) { stores, createStore in
      stores.update(createStore(for: NumberQuery(1)))
      client.withStores(of: IntState.self) { inner, createStore in inner.update(createStore(for: NumberQuery(2))) }
    }
    expect(client.stores().count, equals: 2)
  }

  @Test
  func `A store from elsewhere that is in use stays in use`() async throws {
    let clock = ManualClock()
    let client = OperationClient()
    let script = IntScript()
    let log = Log<String>()
    var store: IntStore? = .detached(query: script.query(path: ["in use"]).manualTime(clock))
    let fetch = Task { [store] in try await store?.fetch() }
    let run = try await script.next()
    client.withStores(of: IntState.self) { stores, _ in if let store { stores.update(store) } }
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    store = nil
    clock.advance(by: .seconds(1_000))
    expect(client.stores().count, equals: 1)
    run.succeed(1)
    _ = try await fetch.finished()
    expect(client.stores().count, equals: 1)
  }
}

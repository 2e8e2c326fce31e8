import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// One store for each path.
@Suite(.bounded, .warningsAreIssues)
struct StoreLookupTests {
  @Test
  func `All callers of an operation get one store`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1), initialValue: 5)
    #expect(client.store(for: NumberQuery(1)) === store)
    expect(client.store(for: NumberQuery(1), initialValue: 9).currentValue, equals: 5)
    _ = warnings {
      #expect(client.store(for: NumberQuery(1).stale(after: .seconds(1)).disableAutomaticRunning()) === store)
    }
    #expect(client.store(for: NumberQuery(2)) !== store)
  }

  @Test
  func `Two callers that race get one store`() async {
    for number in 0..<200 {
      let client = OperationClient()
      let log = Log<String>()
      let subscription = client.announcing(to: log)
      defer { subscription.cancel() }
      let stores = await withTaskGroup(of: IntStore.self) { group in
        for _ in 0..<4 { group.addTask { client.store(for: NumberQuery(number)) } }
        var stores: [IntStore] = []
        for await store in group { stores.append(store) }
        return stores
      }
      expect(Set(stores.map { ObjectIdentifier($0) }).count, equals: 1)
      expect(client.stores().count, equals: 1)
      expect(log.all.count, equals: 1)
    }
  }

  @Test
  func `Stores are found by their path, by a prefix and by a key`() {
    let client = OperationClient()
    let one = client.store(for: NumberQuery(1))
    let text = client.store(for: TextQuery("a"))
    #expect(client.store(with: ["numbers", 1])?.base as? IntStore === one)
    #expect(client.store(with: ["numbers"]) == nil)
    #expect(client.store(with: ["numbers", 2]) == nil)
    expect(client.stores().count, equals: 2)
    expect(client.stores(matching: ["numbers"]).count, equals: 1)
    #expect(client.stores(matching: ["texts"], of: IntState.self).isEmpty)
    #expect(client.stores(of: IntState.self)[["numbers", 1]] === one)
    expect(client.stores(matching: [], of: QueryState<String, any Error>.self).map(\.path), equals: [text.path])
    #expect(client.store(with: OperationPathKey<IntState>(path: ["numbers", 1])) === one)
    #expect(client.store(with: OperationPathKey<IntState>(path: ["texts", "a"])) == nil)
  }

  @Test
  func `An operation of another type at a path in use is reported and gets a store of its own`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    let rival = expectWarning(.pathInUse) { client.store(for: RivalQuery(1), initialValue: 8) }
    #expect(rival !== store)
    expect(rival.currentValue, equals: 8)
    #expect(client.store(for: NumberQuery(1)) === store)
    expect(client.stores().count, equals: 1)
    let other = expectWarning(.pathInUse) { client.store(for: RivalQuery(1)) }
    #expect(other !== rival)
  }

  @Test
  func `The same query with another state at a path in use is reported too`() async throws {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    let rival = expectWarning(.pathInUse) { client.store(for: NumberQuery(1).defaultValue(0)) }
    expect(rival.currentValue, equals: 0)
    try await rival.fetch()
    expect(store.currentValue, equals: nil)
    let message = warnings { _ = client.store(for: NumberQuery(1).defaultValue(0)) }.first?.message ?? ""
    #expect(message.contains("NumberQuery is requested at the path [\"numbers\", 1]"))
    #expect(message.contains("with the state DefaultOperationState<QueryState<Int, Error>>, where"))
    #expect(message.contains("has the state QueryState<Int, Error>."))
    #expect(message.contains("`.defaultValue(_:)`"))
  }

  @Test
  func `A query with a default value has a store that shows it`() async throws {
    let client = OperationClient()
    let query: NumberQuery.Default = NumberQuery(4).defaultValue(-1)
    let store = client.store(for: query)
    expect(store.currentValue, equals: -1)
    #expect(client.store(for: query) === store)
    try await store.fetch()
    expect(store.currentValue, equals: 4)
  }

  @Test
  func `Stores that are cleared are no longer found, and work while they are referenced`() async throws {
    let client = OperationClient()
    let one = client.store(for: NumberQuery(1))
    let two = client.store(for: NumberQuery(2))
    let text = client.store(for: TextQuery("a"))
    let recorder = IntRecorder()
    let subscription = one.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    client.clearStore(with: ["numbers", 2])
    #expect(client.store(with: two.path) == nil)
    client.clearStores(matching: ["numbers"])
    #expect(client.store(for: NumberQuery(1)) !== one)
    try await one.fetch()
    expect(one.currentValue, equals: 1)
    #expect(recorder.values.isEmpty)
    #expect(client.store(for: TextQuery("a")) === text)
    client.clearStores()
    #expect(client.stores().isEmpty)
  }

  @Test
  func `Clearing inside a handler and asking again gives a new store`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    let found = Box<[IntStore]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in
        guard state.currentValue == 1 else { return }
        client.clearStores()
        found.value = [client.store(for: NumberQuery(1))]
      }
    )
    defer { subscription.cancel() }
    store.currentValue = 1
    expect(found.value.count, equals: 1)
    #expect(found.value.first !== store)
    expect(found.value.first?.currentValue, equals: .some(nil))
  }

  @Test
  func `A store creator makes the stores`() {
    let client = OperationClient(storeCreator: MarkingCreator())
    let store = client.store(for: NumberQuery(1))
    expect(store.context[NumberKey.self], equals: 42)
    let inside = client.withStores(of: IntState.self) { _, createStore in createStore(for: NumberQuery(2)) }
    expect(inside.context[NumberKey.self], equals: 42)
  }

  @Test
  func `Any stateful operation has a store`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1), initialState: QueryState(initialValue: 6))
    expect(store.currentValue, equals: 6)
  }
}

private struct MarkingCreator: OperationClient.StoreCreator {
  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    .detached(
      operation: operation.context { $0[NumberKey.self] = 42 },
      initialState: initialState,
      initialContext: context
    )
  }
}

import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded)
struct OperationPathKeyTests {
  private typealias IntState = QueryState<Int, any Error>
  private typealias TextState = QueryState<String, any Error>

  @Test
  func `A key is its path, however it was made`() {
    let key = OperationPathKey<IntState>(path: ["numbers", 1])
    expect(OperationPathKey(NumberQuery(1)), equals: key)
    expect(OperationPathKey(NumberQuery(1)).hashValue, equals: key.hashValue)
    #expect(OperationPathKey(NumberQuery(2)) != key)
    expect(OperationPathKey(NumberQuery(1).stale(after: .seconds(1))), equals: key)
    expect(key.description, equals: #"["numbers", 1]"#)
  }

  @Test
  func `A key finds the store with its state`() {
    let client = OperationClient()
    let key = OperationPathKey<IntState>(path: ["numbers", 1])
    #expect(client.store(with: key) == nil)
    let store = client.store(for: NumberQuery(1), initialValue: 5)
    #expect(client.store(with: key) === store)
    expect(client.store(with: key)?.currentValue, equals: 5)
    #expect(client.store(with: OperationPathKey<TextState>(path: ["numbers", 1])) == nil)
  }

  @Test
  func `A prefix finds the stores below it that have its state`() {
    let client = OperationClient()
    let prefix = OperationPathPrefix<IntState>(path: ["numbers"])
    #expect(client.stores(matching: prefix).isEmpty)
    let one = client.store(for: NumberQuery(1))
    let two = client.store(for: NumberQuery(2))
    expect(
      Set(client.stores(matching: prefix).map(ObjectIdentifier.init)),
      equals: [ObjectIdentifier(one), ObjectIdentifier(two)]
    )
    #expect(client.stores(matching: OperationPathPrefix<TextState>(path: ["numbers"])).isEmpty)
    expect(prefix.description, equals: #"["numbers"]"#)
  }

  @Test
  func `A key matches as a prefix too`() {
    let client = OperationClient()
    let key = OperationPathKey(NumberQuery(1))
    let store = client.store(for: NumberQuery(1))
    _ = client.store(for: NumberQuery(2))
    expect(client.stores(matching: key).map(\.path), equals: [store.path])
    expect(OperationPathPrefix(key), equals: OperationPathPrefix(path: ["numbers", 1]))
  }

  @Test
  func `Stores below a prefix are edited at once`() {
    let client = OperationClient()
    let prefix = OperationPathPrefix<IntState>(path: ["numbers"])
    _ = client.store(for: NumberQuery(1))
    let count = client.withStores(matching: prefix) { stores, create in
      stores.removeAll(matching: ["numbers", 1])
      stores.update(create(for: NumberQuery(2), initialValue: 7))
      return stores.count
    }
    expect(count, equals: 1)
    expect(client.stores(matching: prefix).map(\.currentValue), equals: [7])
  }

  @Test
  func `An operation takes its path from a key of its state, with a default value or without`() {
    expect(OperationPathKey<IntState>(path: ["a"]).path(for: NumberQuery.self), equals: ["a"])
    expect(OperationPathKey<DefaultOperationState<IntState>>(path: ["a"]).path(for: NumberQuery.self), equals: ["a"])
    expect(OperationPathKey<DefaultOperationState<IntState>>(path: ["a"]).path(for: DefaultNumber.self), equals: ["a"])
  }

  private typealias DefaultNumber = DefaultStateOperation<NumberQuery>
}

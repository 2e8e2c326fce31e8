import OperationCore
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

private struct Person: Sendable, Equatable {
  var name = "Blob"
  var points = 0
}

@Suite(.bounded, .warningsAreIssues)
struct SelectedStatesTests {
  private let store = OperationStore.detached(
    query: QueryOperation<Person, any Error>("person") { _ in Person() },
    initialValue: Person()
  )

  @Test
  func `Equal neighbours are left out`() async {
    var names = self.store.states { $0.currentValue?.name }.makeAsyncIterator()
    await expect(names.next(), equals: "Blob")
    self.store.currentValue = Person(points: 1)
    self.store.currentValue = Person(name: "Other", points: 1)
    await expect(names.next(), equals: "Other")
    self.store.currentValue = Person(name: "Blob", points: 2)
    self.store.currentValue = Person(name: "Other", points: 2)
    let next = Task { [store] in
      var names = store.states { $0.currentValue?.name }.makeAsyncIterator()
      return [await names.next(), await names.next()]
    }
    self.store.currentValue = Person(name: "Third")
    await expect(names.next(), equals: "Third")
    next.cancel()
    _ = await next.value
  }

  @Test
  func `A key path selects, also of the whole state`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query())
    var loading = store.states(selecting: \.isLoading).makeAsyncIterator()
    await expect(loading.next(), equals: false)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    await expect(loading.next(), equals: true)
    run.yield(1)
    run.yield(2)
    run.succeed(3)
    await expect(loading.next(), equals: false)
    try await expect(fetch.value, equals: 3)
  }

  @Test
  func `An iterator is a subscriber until it is dropped`() async {
    var states: SelectedStates<QueryState<Person, any Error>, Int>.Iterator? =
      self.store.states(selecting: \.valueUpdateCount).makeAsyncIterator()
    await expect(states?.next(), equals: 0)
    expect(self.store.subscriberCount, equals: 1)
    states = nil
    expect(self.store.subscriberCount, equals: 0)
  }

  @Test
  func `The sequence ends when the client removes the store`() async {
    let client = OperationClient()
    let store = client.store(for: QueryOperation<Int, any Error>("one") { _ in 1 })
    var counts = store.states(selecting: \.valueUpdateCount).makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    client.clearStores()
    await expect(counts.next(), equals: nil)
  }
}

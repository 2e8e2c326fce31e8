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
    #expect(await names.next() == "Blob")
    self.store.currentValue = Person(points: 1)
    self.store.currentValue = Person(name: "Other", points: 1)
    #expect(await names.next() == "Other")
    self.store.currentValue = Person(name: "Blob", points: 2)
    self.store.currentValue = Person(name: "Other", points: 2)
    let next = Task { [store] in
      var names = store.states { $0.currentValue?.name }.makeAsyncIterator()
      return [await names.next(), await names.next()]
    }
    self.store.currentValue = Person(name: "Third")
    #expect(await names.next() == "Third")
    next.cancel()
    _ = await next.value
  }

  @Test
  func `A key path selects, also of the whole state`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query())
    var loading = store.states(selecting: \.isLoading).makeAsyncIterator()
    #expect(await loading.next() == false)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    #expect(await loading.next() == true)
    run.yield(1)
    run.yield(2)
    run.succeed(3)
    #expect(await loading.next() == false)
    #expect(try await fetch.value == 3)
  }

  @Test
  func `An iterator is a subscriber until it is dropped`() async {
    var states: SelectedStates<QueryState<Person, any Error>, Int>.Iterator? =
      self.store.states(selecting: \.valueUpdateCount).makeAsyncIterator()
    #expect(await states?.next() == 0)
    #expect(self.store.subscriberCount == 1)
    states = nil
    #expect(self.store.subscriberCount == 0)
  }

  @Test
  func `The sequence ends when the client removes the store`() async {
    let client = OperationClient()
    let store = client.store(for: QueryOperation<Int, any Error>("one") { _ in 1 })
    var counts = store.states(selecting: \.valueUpdateCount).makeAsyncIterator()
    #expect(await counts.next() == 0)
    client.clearStores()
    #expect(await counts.next() == nil)
  }
}

import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `store.values`: an async sequence of the values of a store.
@Suite(.bounded, .warningsAreIssues)
struct ValuesSequenceTests {
  private let script = IntScript()

  @Test
  func `The current value comes first, then each that is set, yielded or returned`() async throws {
    let store = OperationStore.detached(query: self.script.query(), initialValue: 1)
    var values = store.values.makeAsyncIterator()
    await expect(values.next(), equals: 1)
    store.currentValue = 2
    await expect(values.next(), equals: 2)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(3)
    await expect(values.next(), equals: 3)
    run.succeed(4)
    _ = try await fetch.finished()
    await expect(values.next(), equals: 4)
  }

  @Test
  func `Beginnings and errors bring no value, resets and optimistic updates do`() async throws {
    let store = OperationStore.detached(query: self.script.query(), initialValue: 1)
    var values = store.values.makeAsyncIterator()
    await expect(values.next(), equals: 1)
    self.script.enqueue(.error(Refused()))
    _ = try? await store.fetch()
    store.setResult(to: .failure(Refused()))
    store.currentValue = 2
    await expect(values.next(), equals: 2)
    let id = StateLayerIdentifier()
    store.addLayer(id) { $0 = 50 }
    await expect(values.next(), equals: 50)
    store.removeLayer(id)
    await expect(values.next(), equals: 2)
    store.resetState()
    await expect(values.next(), equals: 1)
  }

  @Test
  func `A run that is rolled back brings the value from before it`() async throws {
    let store = OperationStore.detached(query: self.script.query(), initialValue: 1)
    var values = store.values.makeAsyncIterator()
    await expect(values.next(), equals: 1)
    let fetch = Task { try await store.fetch() }
    try await self.script.next().yield(3)
    await expect(values.next(), equals: 3)
    fetch.cancel()
    _ = await fetch.result
    await expect(values.next(), equals: 1)
  }

  @Test
  func `It ends with the store, and a dropped iterator leaves`() async throws {
    var store: IntStore? = .detached(query: self.script.query(), initialValue: 1)
    let values = try #require(store?.values)
    var dropped: IntStore.AsyncValues.Iterator? = values.makeAsyncIterator()
    expect(store?.subscriberCount, equals: 1)
    _ = await dropped?.next()
    dropped = nil
    expect(store?.subscriberCount, equals: 0)
    var iterator = values.makeAsyncIterator()
    await expect(iterator.next(), equals: 1)
    store = nil
    if await iterator.next() != nil { Issue.record("The sequence goes on.") }
  }
}

import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `states`: an async sequence of a store's states that keeps the newest only.
@Suite(.bounded, .warningsAreIssues)
struct StatesSequenceTests {
  @Test
  func `The current state comes first, then each change`() async throws {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 1)
    var iterator = store.states.makeAsyncIterator()
    await expect(iterator.next()?.state.currentValue, equals: 1)
    store.currentValue = 2
    await expect(iterator.next()?.state.currentValue, equals: 2)
    store.setResult(to: .failure(Refused()))
    let element = try #require(await iterator.next())
    #expect(element.state.error is Refused)
    expect(element.context.operationResultUpdateReason, equals: nil)
  }

  @Test
  func `A slow reader gets the newest state`() async throws {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    var iterator = store.states.makeAsyncIterator()
    for number in 1...100 { store.currentValue = number }
    await expect(iterator.next()?.state.currentValue, equals: 100)
    store.currentValue = 101
    await expect(iterator.next()?.state.currentValue, equals: 101)
  }

  @Test
  func `An iterator is a subscriber until it is released`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery())
    do {
      var iterator = store.states.makeAsyncIterator()
      await expect(iterator.next()?.state.currentValue, equals: .some(nil))
      expect(store.subscriberCount, equals: 1)
      let run = try await script.next()
      _ = consume iterator
      try await run.cancelled()
    }
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `The sequence alone does not subscribe, and each iterator is a subscriber of its own`() async throws {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let states = store.states
    expect(store.subscriberCount, equals: 0)
    var first = states.makeAsyncIterator()
    var second = states.makeAsyncIterator()
    expect(store.subscriberCount, equals: 2)
    await expect(first.next()?.state.currentValue, equals: 0)
    await expect(second.next()?.state.currentValue, equals: 0)
  }

  @Test
  func `Cancelling the reader ends its iteration and its subscription`() async throws {
    let store = IntStore.detached(query: IntScript().query())
    let first = Gate()
    let reader = Task {
      for await _ in store.states { first.open() }
    }
    try await first.wait()
    reader.cancel()
    try await reader.finished()
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `The iteration ends when the store is released, which it does not keep alive`() async throws {
    var store: IntStore? = .detached(query: IntScript().query(), initialValue: 1)
    let states = try #require(store).states
    let first = Gate()
    let reader = Task {
      var values: [Int?] = []
      for await element in states {
        values.append(element.state.currentValue)
        first.open()
      }
      return values
    }
    try await first.wait()
    weak let witness = store
    store = nil
    #expect(witness == nil)
    try await expect(reader.finished(), equals: [1])
  }

  @Test
  func `An erased store has the same states`() async throws {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 1)
    let opaque = OpaqueOperationStore(erasing: store)
    var iterator = opaque.states.makeAsyncIterator()
    await expect(iterator.next()?.state.currentValue as? Int, equals: 1)
    store.currentValue = 2
    await expect(iterator.next()?.state.currentValue as? Int, equals: 2)
  }
}

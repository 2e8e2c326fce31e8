import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `isPlaceholder`: whether a default value is shown in place of a missing one.
@Suite(.bounded, .warningsAreIssues)
struct PlaceholderTests {
  @Test
  func `A default value is a placeholder until a value comes, and again after a reset`() async throws {
    let script = IntScript(default: .value(7))
    let store = OperationStore.detached(query: script.query().defaultValue(7))
    #expect(store.isPlaceholder)
    expect(store.currentValue, equals: 7)
    try await store.fetch()
    // The value alone does not tell: it is the same.
    expect(store.currentValue, equals: 7)
    #expect(!store.isPlaceholder)
    store.resetState()
    #expect(store.isPlaceholder)
  }

  @Test
  func `It is kept nowhere, and does not make the store fresh`() {
    let clock = ManualClock()
    let query = IntScript().query().stale(after: .seconds(60)).manualTime(clock)
    let store = OperationStore.detached(query: query.defaultValue(7))
    #expect(store.isStale)
    #expect(store.state.restoration == nil)
    expect(store.state.restorableValue, equals: nil)
    expect(store.valueUpdateCount, equals: 0)
    expect(store.state.base.currentValue, equals: nil)
  }

  @Test
  func `A failure leaves the placeholder, and a value that is set ends it`() {
    let store = OperationStore.detached(query: IntScript().query().defaultValue(7))
    store.setResult(to: .failure(Refused()))
    #expect(store.isPlaceholder)
    store.currentValue = 7
    #expect(!store.isPlaceholder)
  }

  @Test
  func `A value that is nil itself is no placeholder`() async throws {
    let script = OperationScript<Int?, any Error>(default: .value(nil))
    let store = OperationStore.detached(query: script.query().defaultValue(3))
    #expect(store.isPlaceholder)
    expect(store.currentValue, equals: 3)
    try await store.fetch()
    expect(store.currentValue, equals: nil)
    #expect(!store.isPlaceholder)
  }

  @Test
  func `Followers see the flag in the states`() async throws {
    let store = OperationStore.detached(query: IntScript().query().defaultValue(7))
    var states = store.states.makeAsyncIterator()
    await expect(states.next()?.state.isPlaceholder, equals: true)
    store.currentValue = 1
    await expect(states.next()?.state.isPlaceholder, equals: false)
  }
}

import OperationEvents
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// Events of values that become stale by rules other than an age, or that were there before anybody looked.
@Suite(.bounded, .warningsAreIssues)
struct StalenessEventTests {
  private let posts = PostFixture()
  private let set = "a value was set by a call"

  @Test
  func `A value that becomes stale by a condition is an event, each time`() async throws {
    let light = DescribedSwitch(false)
    let store = self.posts.client.store(for: self.posts.query.staleWhen(satisfying: light))
    let events = self.posts.client.events
    store.currentValue = 1
    light.set(true)
    light.set(true)
    light.set(false)
    light.set(true)
    store.currentValue = 2
    let stale = "became stale, because the light is green"
    try await expect(next(4, of: events), equals: [self.set, stale, stale, self.set])
  }

  @Test
  func `The cause is the condition`() async throws {
    let light = DescribedSwitch(false)
    let store = self.posts.client.store(for: self.posts.query.staleWhen(satisfying: light))
    let events = self.posts.client.events
    light.set(true)
    let event = try #require(try await withTimeLimit("an event") { await events.first { _ in true } })
    #expect(event.cause == .condition("the light is green") && event.run == nil)
    withExtendedLifetime(store) {}
  }

  @Test
  func `A predicate is asked when the value has changed`() async throws {
    let query = self.posts.query.staleWhen { state, _ in (state.currentValue ?? 0) > 5 }
    let store = self.posts.client.store(for: query)
    let events = self.posts.client.events
    for value in [1, 6, 7, 2, 8] { store.currentValue = value }
    let stale = "became stale, because its rule `.staleWhen { … }` says so"
    try await expect(next(7, of: events), equals: [self.set, self.set, stale, self.set, self.set, self.set, stale])
  }

  @Test
  func `A value that was set before the first reader came becomes stale for it, by age and by a condition`()
    async throws
  {
    let light = DescribedSwitch(false)
    let client = self.posts.client
    let aged = client.store(for: self.posts.freshQuery.cacheTime(.seconds(10_000)))
    let other = GetPost(script: self.posts.script, path: ["posts", 2])
      .enableAutomaticRunning(onlyWhen: .always(true))
      .manualTime(self.posts.clock)
      .staleWhen(satisfying: light)
    let conditional = client.store(for: other)
    aged.currentValue = 1
    conditional.currentValue = 1
    self.posts.clock.advance(by: .seconds(50))
    let events = client.events
    self.posts.clock.advance(by: .seconds(10))
    light.set(true)
    try await expect(
      next(2, of: events),
      equals: [
        "became stale, because its value is older than 1 min", "became stale, because the light is green",
      ]
    )
    withExtendedLifetime((aged, conditional)) {}
  }

  @Test
  func `Nothing listens to a condition when nobody reads, and nothing does after the store has gone`() {
    let light = SwitchSpecification(false)
    let client = self.posts.client
    var store: OperationStore? = client.store(for: self.posts.query.staleWhen(satisfying: light))
    store?.currentValue = 1
    expect(light.observerCount, equals: 0)
    let events = client.events
    expect(light.observerCount, equals: 1)
    store?.currentValue = 2
    expect(light.observerCount, equals: 1)
    store = nil
    client.clearStores()
    expect(light.observerCount, equals: 0)
    withExtendedLifetime(events) {}
  }

  @Test
  func `An invalidated value does not become stale once more`() async throws {
    let light = DescribedSwitch(false)
    let store = self.posts.client.store(for: self.posts.query.staleWhen(satisfying: light))
    let events = self.posts.client.events
    store.currentValue = 1
    self.posts.client.invalidate(matching: ["posts"])
    light.set(true)
    store.resetState()
    let invalidated = "invalidated: an invalidation of [\"posts\"]"
    try await expect(next(3, of: events), equals: [self.set, invalidated, "the state was reset by a call"])
  }
}

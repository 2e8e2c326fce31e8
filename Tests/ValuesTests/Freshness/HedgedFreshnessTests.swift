import OperationCore
import OperationFreshness
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

/// Values that are served while a hedged run is under way, and what its attempts say about theirs.
@Suite(.bounded, .warningsAreIssues) struct HedgedFreshnessTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let notices = NoticeLog()

  private func store(_ query: some QueryRequest<Int, any Error>) -> IntStore {
    let store = IntStore.detached(
      query: query.manualTime(self.clock).context { [notices] in $0.operationNoticeObservers.append(notices) }
    )
    store.currentValue = 1
    return store
  }

  @Test func `A caller gets the last value while attempts race, and the first to end sets the state`() async throws {
    let store = self.store(
      self.script.query().hedged(after: .milliseconds(100)).servesStale(
        softTimeout: .milliseconds(200),
        maximumAge: .seconds(600)
      )
    )
    let fetch = Task { try await store.fetch() }
    let first = try await self.script.next()
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .milliseconds(100))
    let second = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await expect(fetch.value, equals: 1)
    #expect(!first.isCancelled && !second.isCancelled)
    second.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && first.isCancelled)
    expect(self.notices.names.filter { $0 == .servedStale }.count, equals: 1)
  }

  @Test func `A caller gets the last value if all attempts fail`() async throws {
    let store = self.store(
      self.script.query().hedged(after: .milliseconds(100)).servesStale(
        softTimeout: .seconds(60),
        maximumAge: .seconds(600)
      )
    )
    let fetch = Task { try await store.fetch() }
    let first = try await self.script.next()
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .milliseconds(100))
    let second = try await self.script.next()
    second.fail(Refused())
    first.fail(Refused())
    try await expect(fetch.value, equals: 1)
    #expect(store.error is Refused && self.clock.sleeperCount() == 0)
  }

  @Test func `The attempt whose value is used says how long that is fresh`() async throws {
    let gate = Gate()
    let query = BodyQuery { context, _ in
      let index = context.operationHedgeIndex
      context.freshness = OperationHTTPFreshness(lifetime: .seconds(index == 0 ? 500 : 10))
      if index == 0 { try await gate.wait() }
      return index + 2
    }
    let store = self.store(query.honoringFreshness().hedged(after: .milliseconds(100)))
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(100))
    try await expect(fetch.value, equals: 3)
    self.clock.advance(by: .milliseconds(9_900))
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(100))
    #expect(store.isStale)
  }

  @Test func `The run behind an early refresh is hedged, too`() async throws {
    let store = self.store(
      self.script.query().hedged(after: .milliseconds(100)).stale(after: .seconds(100)).refreshesEarly(after: 0.8)
    )
    self.clock.advance(by: .seconds(90))
    try await expect(store.fetch(), equals: 1)
    _ = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(100))
    try await self.script.next().succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && !store.isStale)
    #expect(self.notices.names.contains(.refreshedEarly))
  }

  @Test func `A reader with a maximal age waits for the attempt that ends first`() async throws {
    let store = self.store(
      self.script.query().hedged(after: .milliseconds(100)).servesStale(
        softTimeout: .milliseconds(50),
        maximumAge: .seconds(600)
      )
    )
    self.clock.advance(by: .seconds(1))
    let read = Task { try await store.value(maximumAge: .milliseconds(500)) }
    _ = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(100))
    try await self.script.next().succeed(2)
    try await expect(read.value, equals: 2)
    #expect(!self.notices.names.contains(.servedStale))
  }
}

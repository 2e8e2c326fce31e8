import OperationBackoff
import OperationCore
import OperationDedupe
import OperationFreshness
import OperationPagination
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// `context.freshness` in a body whose operation has no modifier for it.
@Suite(.bounded, .warningsAreIssues) struct UnmodifiedFreshnessTests {
  private let clock = ManualClock()
  private let server = Server()

  private func store() -> IntStore { .detached(query: self.server.query().manualTime(self.clock)) }

  @Test func `The server decides how long each value is fresh, from the first one on`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "max-age=10"), ("Age", "4"))
    self.server.enqueue(3)
    try await store.fetch()
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    try await store.fetch()
    self.clock.advance(by: .seconds(5))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    try await store.fetch()
    #expect(store.isStale)
    store.currentValue = 4
    #expect(store.isStale)
  }

  @Test func `A client fetches again when the server's time is over`() async throws {
    let client = OperationClient.keeping
    let query = QueryOperation<Int, any Error>("served") { [server] context in try server.answer(context) }
      .retry(limit: 2).backoff(.noBackoff).deduplicated().manualTime(self.clock)
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2)
    try await expect(client.ensureValue(for: query), equals: 1)
    self.clock.advance(by: .seconds(59))
    try await expect(client.ensureValue(for: query), equals: 1)
    self.clock.advance(by: .seconds(1))
    try await expect(client.ensureValue(for: query), equals: 2)
    client.invalidate()
    #expect(client.store(for: query).isStale)
  }

  @Test func `With other rules, a value is stale when any of them says so`() async throws {
    let store = IntStore.detached(query: self.server.query().stale(after: .seconds(10)).manualTime(self.clock))
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "max-age=5"))
    self.server.enqueue(3)
    for age in [10, 5, 10] {
      try await store.fetch()
      self.clock.advance(by: .seconds(age - 1))
      #expect(!store.isStale)
      self.clock.advance(by: .seconds(1))
      #expect(store.isStale)
    }
  }

  @Test func `The windows of RFC 5861 count`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60, stale-while-revalidate=30, stale-if-error=600"))
    self.server.enqueue(2, ("Cache-Control", "max-age=60, stale-if-error=600"))
    self.server.refuse()
    try await store.fetch()
    self.clock.advance(by: .seconds(89))
    try await expect(store.fetch(), equals: 1)
    await store.settled()
    expect(store.currentValue, equals: 2)
    self.clock.advance(by: .seconds(659))
    try await expect(store.fetch(), equals: 2)
    #expect(store.error is Refused)
    self.clock.advance(by: .seconds(1))
    self.server.refuse()
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  @Test func `It counts beside the other modifiers of the module`() async throws {
    let store = IntStore.detached(
      query: self.server.query().servesStale(softTimeout: .seconds(1), maximumAge: .seconds(100)).refreshesEarly(
        after: 0.5
      )
      .manualTime(self.clock)
    )
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "max-age=60, must-revalidate"))
    self.server.refuse()
    self.server.refuse()
    #expect(store.isStale)
    try await store.fetch()
    self.clock.advance(by: .seconds(30))
    try await expect(store.fetch(), equals: 1)
    await store.settled()
    expect(store.currentValue, equals: 2)
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  @Test func `The events of a value tell what was said about it`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"), ("ETag", "\"a\""))
    self.server.enqueue(2, ("ETag", "\"b\""))
    self.server.enqueue(3)
    let tags = Log<String?>()
    for _ in 0..<3 {
      try await store.fetch(
        handler: IntHandler(onResultReceived: { _, context in tags.append(context.freshness?.validators?.entityTag) })
      )
    }
    expect(tags.all, equals: ["\"a\"", "\"b\"", nil])
  }

  @Test func `What a failed run has said does not count for another`() async throws {
    let store = self.store()
    self.server.refuse(("Cache-Control", "max-age=60"))
    self.server.enqueue(1)
    _ = try? await store.fetch()
    try await store.fetch()
    #expect(store.isStale)
  }

  @Test func `A yielded value is never fresh, whatever was said before it`() async throws {
    let gate = Gate()
    let store = IntStore.detached(
      query: BodyQuery { context, continuation in
        context.freshness = OperationHTTPFreshness(lifetime: .seconds(60))
        continuation.yield(1)
        try await gate.wait()
        context.freshness = nil
        return 2
      }.manualTime(self.clock)
    )
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    #expect(store.currentValue == 1 && store.isStale)
    gate.open()
    try await expect(fetch.value, equals: 2)
    #expect(store.isStale)
  }

  @Test func `A list is fresh for as long as each of its pages`() async throws {
    let ages = [60, 20, 40]
    let feed = PaginatedOperation<Int, Int, any Error>(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id < 2 ? $0.id + 1 : nil },
      body: { paging, context in
        context.freshness = OperationHTTPFreshness(lifetime: .seconds(ages[paging.pageId]))
        return paging.pageId
      }
    )
    let store = OperationClient.keeping.store(for: feed.manualTime(self.clock))
    for _ in ages { _ = try await store.fetchNextPage() }
    self.clock.advance(by: .seconds(19))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    _ = try await store.refetchAllPages()
    self.clock.advance(by: .seconds(19))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `With a default value the server decides, too`() async throws {
    let store = OperationClient.keeping.store(for: self.server.query().defaultValue(-1).manualTime(self.clock))
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    try await store.fetch()
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(60))
    #expect(store.isStale)
  }

  @Test func `A run without a store has nobody to tell`() async throws {
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    try await expect(OperationRunner(operation: self.server.query()).run(), equals: 1)
  }

  @Test func `A store is released with what was said about its values`() async throws {
    weak var released: IntStore?
    do {
      let store = self.store()
      self.server.enqueue(1, ("Cache-Control", "max-age=60"))
      try await store.fetch()
      released = store
    }
    #expect(released == nil)
  }

  @Test func `Runs of several threads each tell about their own value`() async throws {
    let store = IntStore.detached(
      query: QueryOperation<Int, any Error>("raced") { context in
        context.freshness = OperationHTTPFreshness(lifetime: .seconds(60))
        return 1
      }.manualTime(self.clock)
    )
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = try? await store.fetch() } }
    }
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(60))
    #expect(store.isStale)
  }

  @Test func `Fields may be a dictionary, or have labels`() {
    let listed = OperationHTTPFreshness(headerFields: [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
    expect(OperationHTTPFreshness(headerFields: ["Cache-Control": "max-age=60", "ETag": "\"a\""]), equals: listed)
    let labelled: [(name: String, value: String)] = [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]
    expect(OperationHTTPFreshness(headerFields: labelled), equals: listed)
    #expect(OperationHTTPFreshness(headerFields: ["b": "x", "cache-control": "no-store"]).forbidsStaleUse)
  }
}

import Operation
import OperationTesting
import TestFixtures
import Testing

/// Retries and deduplication, in both orders.
@Suite(.bounded) struct RetryAndDedupeTests {
  @Test(arguments: [true, false])
  func `Callers share all attempts`(retriesOutside: Bool) async throws {
    let script = OperationScript<Int, any Error>()
    let store = Self.store(script, retriesOutside: retriesOutside)

    async let first = store.fetch()
    let attempt = try await script.next()
    // An immediate task runs until it waits for the run under way.
    let second = Task.immediate { try await store.fetch() }
    attempt.fail(Refused())
    try await script.next().succeed(2)

    try await expect(first, equals: 2)
    try await expect(second.value, equals: 2)
    expect(script.runCount, equals: 2)
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test(arguments: [true, false])
  func `The last error surfaces`(retriesOutside: Bool) async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = Self.store(script, retriesOutside: retriesOutside)

    await #expect(throws: Refused.self) { try await store.fetch() }

    expect(script.runCount, equals: 3)
    expect(store.errorUpdateCount, equals: 1)
  }

  @Test(arguments: [true, false])
  func `A cancelled delay ends at once and leaves the state alone`(retriesOutside: Bool) async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let clock = ManualClock()
    let store = Self.store(script, retriesOutside: retriesOutside)
    store.context.use(clock)

    let task = Task { try await store.fetch() }
    try await clock.sleepers(count: 1)
    task.cancel()

    await #expect(throws: (any Error).self) { try await task.value }
    try await clock.noSleepers()
    expect(script.runCount, equals: 1)
    #expect(store.status.isIdle)
    expect(store.errorUpdateCount, equals: 0)
  }

  private static func store(
    _ script: OperationScript<Int, any Error>,
    retriesOutside: Bool
  ) -> OperationStore<QueryState<Int, any Error>> {
    let store =
      retriesOutside
      ? OperationStore.detached(query: script.query().deduplicated().retry(limit: 2))
      : OperationStore.detached(query: script.query().retry(limit: 2).deduplicated())
    store.context.operationDelayer = .noDelay
    return store
  }
}

import Operation
import OperationTesting
import TestFixtures
import Testing

/// Defaults for a path prefix beside those of the client's store creator.
@Suite(.bounded, .warningsAreIssues)
struct PathDefaultsTests {
  private func client(retryLimit: Int = 0) -> OperationClient {
    OperationClient(
      storeCreator: .default(
        retryLimit: retryLimit,
        backoff: .noBackoff,
        delayer: .noDelay,
        networkObserver: nil,
        activityObserver: nil
      )
    )
  }

  private func runCount(
    _ client: OperationClient,
    _ make: (ScriptedQuery<Int, any Error>) -> some QueryRequest<Int, any Error> & Sendable
  ) async -> Int {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    _ = try? await client.store(for: make(script.query(path: ["posts", ObjectIdentifier(script)]))).fetch()
    return script.runCount
  }

  @Test(arguments: [(0, 2), (3, 0), (3, 1)])
  func `They set how often operations are retried`(own: Int, other: Int) async {
    let client = self.client(retryLimit: own)
    client.setDefaults(matching: ["posts"]) { $0.operationMaxRetries = other }
    await expect(self.runCount(client) { $0 }, equals: other + 1)
    // The places of the attempts inside of a timeout are those of the same retry.
    await expect(self.runCount(client) { $0.timeout(.seconds(3_600)) }, equals: other + 1)
  }

  @Test func `A retry of the operation replaces their limit`() async {
    let client = self.client(retryLimit: 3)
    client.setDefaults(matching: ["posts"]) { $0.operationMaxRetries = 5 }
    await expect(self.runCount(client) { $0.retry(limit: 1) }, equals: 2)
    await expect(self.runCount(client) { $0.retry(limit: 0) }, equals: 1)
  }

  @Test func `Other paths keep the limit of the creator`() async {
    let client = self.client(retryLimit: 2)
    client.setDefaults(matching: ["users"]) { $0.operationMaxRetries = 5 }
    await expect(self.runCount(client) { $0 }, equals: 3)
  }

  @Test func `They replace the backoff and the automatic running of the creator`() async throws {
    let client = self.client(retryLimit: 1)
    let clock = ManualClock()
    client.setDefaults(matching: ["posts"]) { context in
      context.operationBackoffFunction = .constant(.seconds(5))
      context.operationDelayer = clock
      context.automaticRunningSpecification = .always(false)
    }
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Refused()), .value(1))
    let store = client.store(for: script.query(path: ["posts"]))
    let subscription = store.subscribe { _ in }
    expect(script.runCount, equals: 0)
    let fetch = Task.immediate { try await store.fetch() }
    try await clock.sleepers(count: 1)
    expect(clock.delays, equals: [.seconds(5)])
    clock.advance(by: .seconds(5))
    try await expect(fetch.value, equals: 1)
    withExtendedLifetime(subscription) {}
  }
}

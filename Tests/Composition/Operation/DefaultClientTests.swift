import Operation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded) struct DefaultClientTests {
  @Test func `Under a test runner nothing is retried`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = OperationClient().store(for: script.query())

    await #expect(throws: Refused.self) { try await store.fetch() }

    expect(script.runCount, equals: 1)
    #expect(store.isAutomaticRunningEnabled)
  }

  @Test func `Mutations are neither retried nor run automatically by default`() async throws {
    let counter = CountingMutation.Counter()
    let client = OperationClient(storeCreator: .default(retryLimit: 3, delayer: .noDelay))
    let store = client.store(for: CountingMutation(counter: counter))

    await #expect(throws: Refused.self) { try await store.mutate(with: 1) }
    let subscription = store.subscribe(with: MutationEventHandler())

    await expect(counter.count, equals: 1)
    #expect(!store.isAutomaticRunningEnabled)
    subscription.cancel()
  }

  @Test func `Mutations are retried when asked`() async throws {
    let counter = CountingMutation.Counter()
    let client = OperationClient(storeCreator: .default(mutationRetryLimit: 2, delayer: .noDelay))
    let store = client.store(for: CountingMutation(counter: counter))

    await #expect(throws: Refused.self) { try await store.mutate(with: 1) }

    await expect(counter.count, equals: 3)
  }

  @Test func `The context and the cache can be chosen`() async throws {
    var context = OperationContext()
    context.operationCacheTime = .seconds(1)
    let client = OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 1)
    )

    expect(client.defaultContext.operationCacheTime, equals: .seconds(1))
    #expect(client.defaultContext.operationClient === client)
  }
}

/// A mutation that fails each call, and counts the calls.
private struct CountingMutation: MutationRequest {
  actor Counter {
    private(set) var count = 0

    func increment() {
      self.count += 1
    }
  }

  let counter: Counter

  var path: OperationPath { ["counting"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await self.counter.increment()
    throw Refused()
  }
}

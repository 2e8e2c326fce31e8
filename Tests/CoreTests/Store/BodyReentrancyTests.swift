import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The body of an operation may do anything to the store that runs it, also before it suspends.
@Suite(.bounded, .warningsAreIssues)
struct BodyReentrancyTests {
  private func store(_ body: @escaping @Sendable (OperationContext) async throws -> Int) -> IntStore {
    IntStore.detached(query: ClosureQuery(body: body), initialValue: 0)
  }

  @Test
  func `It may set the value`() async throws {
    let store = self.store { context in
      let store = try #require(context.runningOperationStore?.base as? IntStore)
      store.currentValue = 1
      #expect(store.isLoading)
      return 2
    }
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await store.fetch()
    expect(
      recorder.digests,
      equals: [
        .state(0), .state(0, isLoading: true), .started, .state(1, isLoading: true), .state(2), .returned(2), .ended,
      ]
    )
  }

  @Test
  func `It may reset the store, which cancels it`() async throws {
    let store = self.store { context in
      context.runningOperationStore?.resetState()
      #expect(Task.isCancelled)
      return 2
    }
    _ = try? await store.fetch()
    expect(store.currentValue, equals: 0)
    expect(store.valueUpdateCount, equals: 0)
    #expect(!store.isLoading)
  }

  @Test
  func `It may cancel its own task`() async throws {
    let store = self.store { context in
      let store = try #require(context.runningOperationStore?.base as? IntStore)
      let own = context.operationRunningTaskIdentifier
      store.activeTasks.first { $0.id == own }?.cancel()
      #expect(Task.isCancelled)
      #expect(!store.isLoading)
      try Task.checkCancellation()
      return 2
    }
    await #expect(throws: CancellationError.self) { try await store.fetch() }
    #expect(store.status.isIdle)
  }

  @Test
  func `It may subscribe, and run the operation once more`() async throws {
    let depth = Counter()
    let store = self.store { context in
      let store = try #require(context.runningOperationStore?.base as? IntStore)
      let level = depth.increment()
      let subscription = store.subscribe(with: IntRecorder().handler)
      defer { subscription.cancel() }
      if level < 3 { _ = try await store.fetch() }
      return level
    }
    try await expect(store.fetch(), equals: 1)
    expect(store.valueUpdateCount, equals: 3)
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `It may clear its client`() async throws {
    let client = OperationClient()
    let query = ClosureQuery { context in
      context.operationClient?.clearStores()
      return 4
    }
    let store = client.store(for: query)
    try await expect(store.fetch(), equals: 4)
    expect(store.currentValue, equals: 4)
    #expect(client.stores().isEmpty)
  }

  @Test
  func `Many runs begun inside one another do not exhaust the stack`() async throws {
    let depth = Counter()
    let store = self.store { context in
      let store = try #require(context.runningOperationStore?.base as? IntStore)
      let level = depth.increment()
      return level < 2_000 ? try await store.fetch() + 1 : 0
    }
    try await expect(store.fetch(), equals: 1_999)
  }
}

private struct ClosureQuery: QueryRequest {
  let body: @Sendable (OperationContext) async throws -> Int

  var path: OperationPath { ["closure"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.body(context)
  }
}

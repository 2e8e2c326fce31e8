import Operation
import TestFixtures
import Testing

extension OperationContext {
  fileprivate var customProperty: String {
    get { self[CustomPropertyKey.self] }
    set { self[CustomPropertyKey.self] = newValue }
  }

  private enum CustomPropertyKey: Key {
    static let defaultValue: String = "hello!"
  }
}

private struct PlayerQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    if context.customProperty == "hello!" {
      "player \(self.id)"
    } else {
      "player \(self.id), differently"
    }
  }
}

private struct SomeQuery: QueryRequest, Hashable {
  func setup(context: inout OperationContext) {
    context.customProperty = "new value"
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    context.customProperty
  }
}

private struct NoRetryQuery: QueryRequest, Hashable {
  struct Unavailable: Error {}

  func setup(context: inout OperationContext) {
    context.operationMaxRetries = 0  // Disable retries for this query.
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    #expect(context.isLastRunAttempt)
    throw Unavailable()
  }
}

@Suite(.bounded) struct ContextSamples {
  @Test func `A custom property reaches the query`() async throws {
    let store = OperationStore.detached(query: PlayerQuery(id: 1))
    try await expect(store.fetch(), equals: "player 1")

    store.context.customProperty = "bye"
    try await expect(store.fetch(), equals: "player 1, differently")
  }

  @Test func `A query sets up its context`() async throws {
    try await expect(OperationStore.detached(query: SomeQuery()).fetch(), equals: "new value")
  }

  @Test func `A query can disable its retries`() async throws {
    let client = OperationClient(storeCreator: .default(retryLimit: 3, delayer: .noDelay))
    let store = client.store(for: NoRetryQuery())

    await #expect(throws: NoRetryQuery.Unavailable.self) { try await store.fetch() }
    expect(store.errorUpdateCount, equals: 1)
  }
}

import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// The samples of the article, word for word.
@Suite struct FallbackArticleSamples {
  @Test func `The samples with a value, a closure and another operation work`() async throws {
    let recommendations = RecommendationsQuery().fallback([])

    #expect(try await OperationRunner(operation: recommendations).run() == [])

    let lenient = RecommendationsQuery().fallback { error, _ in
      guard error is ServiceUnavailable else { throw error }
      return []
    }

    #expect(try await OperationRunner(operation: lenient).run() == [])

    let replicated = RecommendationsQuery().fallback(to: ReplicaQuery())

    #expect(try await OperationRunner(operation: replicated).run() == ["replica"])
  }

  @Test func `The sample with the mark of an event works`() async throws {
    let notes = Log<Bool>()
    let store = OperationStore.detached(query: RecommendationsQuery().fallback([]).disableAutomaticRunning())
    let subscription = store.subscribe(
      with: QueryEventHandler(onResultReceived: { _, context in
        notes.append(context.isFallback)
      })
    )
    try await store.fetch()
    #expect(notes.all == [true])
    subscription.cancel()
  }
}

private struct ServiceUnavailable: Error {}

private struct RecommendationsQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] { throw ServiceUnavailable() }
}

private struct ReplicaQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] { ["replica"] }
}

import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

private struct HTTPError: Error {
  let status: Int
}

private enum LoadError: Error {
  case unavailable
}

private struct LoadOperation: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, LoadError>
  ) async throws(LoadError) -> Int { 1 }
}

private struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { self.id }
}

@Suite(.warningsAreIssues) struct ArticleSamples {
  @Test func `The samples of the article compile and run`() async throws {
    let breaker = CircuitBreaker(
      name: "posts",
      failureRatio: 0.5,
      minimumRuns: 20,
      window: .seconds(30),
      openFor: .exponential(.seconds(5)).capped(at: .seconds(60))
    )
    let query = PostQuery(id: 1).circuitBreaker(breaker)
    let patient = CircuitBreaker { error in (error as? HTTPError)?.status != 404 }
    let resilient = PostQuery(id: 1)
      .circuitBreaker(breaker)
      .retry(limit: 3)
    let typed = LoadOperation().circuitBreaker(breaker, else: { _ in .unavailable })

    let store = OperationStore.detached(query: query)
    #expect(try await store.fetch() == 1)
    #expect(try await OperationStore.detached(query: resilient).fetch() == 1)
    #expect(try await typed.runWithoutSetup() == 1)
    #expect(breaker.snapshot.runs == 3)
    #expect(patient.state == .closed)
    try await Self.watch(breaker)
  }

  private static func watch(_ breaker: CircuitBreaker) async throws {
    let watching = Task.immediate {
      func log(_ line: String) {}
      for await state in breaker.states {
        log("posts: \(state)")
      }
    }
    watching.cancel()
    try await withTimeLimit("the states to end") { await watching.value }
  }
}

import OperationCore
import OperationLimits
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

private enum LoadError: Error {
  case busy
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
    let limit = ConcurrencyLimit(10, queue: 100)
    let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(2))
    let rate = RateLimit(100, per: .seconds(60), burst: 10)
    let adaptive = AdaptiveLimit(minimum: 2, maximum: 100)
    let resilient = PostQuery(id: 1)
      .limited(by: limit, maximumWait: .seconds(2))
      .retry(limit: 3)
    let typed = LoadOperation().limited(by: rate, maximumWait: .zero, else: { _ in .busy })

    #expect(try await OperationStore.detached(query: query).fetch() == 1)
    #expect(try await OperationStore.detached(query: resilient).fetch() == 1)
    #expect(try await PostQuery(id: 2).limited(by: adaptive).runWithoutSetup() == 2)
    #expect(try await typed.runWithoutSetup() == 1)
    #expect(limit.activeCount == 0 && adaptive.activeCount == 0)
  }
}

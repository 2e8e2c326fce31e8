import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

private struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { self.id }
}

private struct RenameFile: OperationRequest, Sendable {
  let name: String

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { self.name }
}

@Suite(.warningsAreIssues) struct ArticleSamples {
  @Test func `The samples of the article compile and run`() async throws {
    let query = PostQuery(id: 1).hedged(after: .milliseconds(50), maximum: 2)
    let adaptive = PostQuery(id: 1).hedged(after: .quantile(0.95, minimumRuns: 20), maximum: 2)
    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 10)
    let bounded = PostQuery(id: 1).hedged(after: .milliseconds(50), maximum: 3, budget: budget)
    let rename = RenameFile(name: "b").idempotent().hedged(after: .seconds(1))

    #expect(try await OperationStore.detached(query: query).fetch() == 1)
    #expect(try await OperationStore.detached(query: adaptive).fetch() == 1)
    #expect(try await OperationStore.detached(query: bounded).fetch() == 1)
    #expect(try await rename.runWithoutSetup() == "b")
  }
}

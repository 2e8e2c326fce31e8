import OperationChaos
import OperationCore
import OperationTesting
import Testing

/// The samples of the article, word for word.
@Suite struct ChaosArticleSamples {
  @Test func `The sample of a client with chaos works`() async throws {
    let chaos = Chaos(failures: 0.1, latency: 0.2, of: .milliseconds(100)...(.seconds(2)), seed: 7)
    let query = PostQuery(id: 1).chaos(chaos)

    var context = OperationContext()
    context.operationChaos = true
    let client = OperationClient(defaultContext: context)

    let store = client.store(for: query)
    #expect(store.context.operationChaos)
    #expect(store.path == query.path)
  }
}

private struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { "post" }
}

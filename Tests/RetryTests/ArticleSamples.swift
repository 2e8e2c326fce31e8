import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Testing

/// The samples of the article about bounds, hints and values, word for word.
@Suite struct RetryArticleSamples {
  @Test func `The samples with hints, bounds and values work`() async throws {
    let error = HTTPError(status: 503, retryAfter: "120")
    #expect(error.retryClassification == .retryAfter(.seconds(120)))

    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 10)
    let query = PostQuery(id: 1).retry(limit: 3).retryBudget(budget).honoringRetryAfter(cap: .seconds(30))
    #expect(try await OperationRunner(operation: query).run() == .ready)

    let export = ExportQuery().retry(limit: 10, whileValue: { $0 == .pending }).backoff(.constant(.seconds(5)))
    #expect(try await OperationRunner(operation: export).run() == .ready)
  }
}

private struct HTTPError: Error, RetryClassifying {
  let status: Int
  let retryAfter: String?

  var retryClassification: RetryClassification {
    RetryClassification(httpStatus: self.status, retryAfter: self.retryAfter)
  }
}

private enum Export: Sendable {
  case pending
  case ready
}

private struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Export, any Error>
  ) async throws -> Export { .ready }
}

private struct ExportQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Export, any Error>
  ) async throws -> Export { .ready }
}

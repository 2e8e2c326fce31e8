import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// An attempt that has committed a value has made progress: the attempts are counted anew.
@Suite(.bounded, .warningsAreIssues) struct RetryCommitTests {
  private let delayer = RecordingDelayer()
  private let attempts = Counter()

  /// A query that commits a value in some attempts, and fails in all until one.
  private func query(committing: Set<Int>, until last: Int) -> some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("query") { [attempts] _, continuation in
      let attempt = attempts.increment()
      if committing.contains(attempt) { continuation.commit(attempt) }
      if attempt < last { throw Refused(code: attempt) }
      return attempt
    }
    .retry(limit: 2)
    .delayer(self.delayer)
    .context { $0.addEntriesToOutcomes() }
  }

  @Test func `A failure after a commit counts as the first`() async throws {
    let store = OperationStore.detached(query: self.query(committing: [2, 4], until: 6))
    try await expect(store.fetch(), equals: 6)
    expect(self.delayer.delays, equals: [1, 1, 2, 1, 2].map { .seconds($0) })
  }

  @Test func `Without a commit the limit is that of the run`() async throws {
    let store = OperationStore.detached(query: self.query(committing: [1], until: 6))
    await #expect(throws: Refused(code: 3)) { try await store.fetch() }
    expect(self.delayer.delays, equals: [.seconds(1), .seconds(2)])
    expect(store.currentValue, equals: 1)
  }
}

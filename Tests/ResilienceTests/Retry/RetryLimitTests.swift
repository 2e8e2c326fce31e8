import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Which limit applies.
@Suite(.bounded, .warningsAreIssues) struct RetryLimitTests {
  private let attempts = Attempts()

  @Test func `The limit that an operation sets in its setup applies`() async {
    let unretried = self.attempts.failing { $0.operationMaxRetries = 0 }
    await #expect(throws: Refused(code: 1)) { try await unretried.retry(limit: 3).runOnce() }
    let attempts = Attempts()
    let retried = attempts.failing { $0.operationMaxRetries = 4 }
    await #expect(throws: Refused(code: 5)) { try await retried.retry(limit: 1).runOnce() }
    #expect(attempts.all.allSatisfy { $0.maximum == 4 })
  }

  @Test func `A limit inside of the retry applies, and one outside of it does not`() async {
    let inside = self.attempts.failing().context { $0.operationMaxRetries = 0 }.retry(limit: 3)
    await #expect(throws: Refused(code: 1)) { try await inside.runOnce() }
    let attempts = Attempts()
    let outside = attempts.failing().retry(limit: 3).context { $0.operationMaxRetries = 0 }
    await #expect(throws: Refused(code: 4)) { try await outside.runOnce() }
  }

  @Test func `The limit is read when the operation runs`() async {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = OperationStore.detached(query: script.query().retry(limit: 3).delayer(.noDelay))
    store.context.operationMaxRetries = 1
    await self.expectRuns(2, of: store)
    expect(store.context.operationMaxRetries, equals: 1)
    var context = OperationContext()
    context.operationMaxRetries = 2
    await self.expectRuns(3, of: store, using: context)
    await self.expectRuns(2, of: store)
  }

  private func expectRuns(
    _ runs: Int,
    of store: OperationStore<QueryState<Int, any Error>>,
    using context: OperationContext? = nil
  ) async {
    let delayer = RecordingDelayer()
    store.context.operationDelayer = delayer
    _ = try? await store.fetch(using: context)
    expect(delayer.delays.count, equals: runs - 1)
  }

  @Test func `Without a setup the limit of the retry applies, unless the context has one`() async {
    let operation = self.attempts.failing().retry(limit: 2)
    await #expect(throws: Refused(code: 3)) { try await operation.runWithoutSetup(in: .withoutDelays) }
    expect(self.attempts.indices, equals: [nil, 0, 1])
    #expect(self.attempts.all.allSatisfy { $0.maximum == 2 })
    expect(self.attempts.all.last?.isLastRun, equals: true)
    var context = OperationContext.withoutDelays
    context.operationMaxRetries = 1
    await #expect(throws: Refused(code: 5)) { try await operation.runWithoutSetup(in: context) }
  }
}

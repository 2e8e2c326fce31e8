import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

private struct Busy: RetryHinting, Hashable {
  var retryAfter: OperationDuration?
}

private struct Classified: RetryClassifying, Hashable {
  var retryClassification: RetryClassification
}

@Suite(.bounded, .warningsAreIssues) struct RetryHintTests {
  private let delayer = RecordingDelayer()

  private var context: OperationContext {
    var context = OperationContext()
    context.operationDelayer = self.delayer
    context.operationBackoffFunction = .constant(.seconds(7))
    context.operationRetryAfterJitter = .none
    return context
  }

  /// Runs an operation that fails once with `error`, and returns whether it was retried.
  private func isRetried(
    after error: any Error,
    _ modify: (Work<Int, any Error>) -> any OperationRequest<Int, any Error> = { $0.retry(limit: 1) }
  ) async -> Bool {
    let work = Work<Int, any Error> { context, _ in
      if context.isFirstRunAttempt { throw error }
      return 1
    }
    do {
      return try await modify(work).runOnce(in: self.context) == 1
    } catch {
      return false
    }
  }

  @Test func `A hint decides the delay`() async {
    #expect(await self.isRetried(after: Busy(retryAfter: .seconds(3))))
    #expect(await self.isRetried(after: Busy(retryAfter: .zero)))
    #expect(await self.isRetried(after: Busy(retryAfter: nil)))
    expect(self.delayer.delays, equals: [.seconds(3), .zero, .seconds(7)])
  }

  @Test(arguments: [
    (Duration.seconds(-5), Duration.zero), (.seconds(Int64.min), .zero), (.seconds(61), .seconds(60)),
    (.seconds(Int64.max), .seconds(60)), (Duration(attoseconds: .max), .seconds(60)),
    (Duration(attoseconds: .min), .zero),
  ])
  func `A hint out of range is clamped`(hint: Duration, delay: Duration) async {
    #expect(await self.isRetried(after: Busy(retryAfter: hint)))
    #expect(await self.isRetried(after: Classified(retryClassification: .retryAfter(hint))))
    expect(self.delayer.delays, equals: [delay, delay])
  }

  @Test func `The cap can be set, and a negative one is reported`() async {
    #expect(
      await self.isRetried(after: Busy(retryAfter: .seconds(90))) {
        $0.retry(limit: 1).honoringRetryAfter(cap: .seconds(80), jitter: .none)
      }
    )
    #expect(await self.isRetried(after: Busy(retryAfter: .seconds(90))) { $0.honoringRetryAfter().retry(limit: 1) })
    #expect(
      await self.isRetried(after: Busy(retryAfter: .seconds(90))) { work in
        expectWarning(.invalidArgument) { work.retry(limit: 1).honoringRetryAfter(cap: .seconds(-1)) }
      }
    )
    expect(self.delayer.delays, equals: [.seconds(80), .seconds(60), .zero])
  }

  private struct Pushing: RetryPushingBack {
    var retryPushback: RetryPushback?
  }

  @Test func `A server that pushes back says when, or that there is no further attempt`() async {
    #expect(await self.isRetried(after: Pushing(retryPushback: .after(.seconds(3)))))
    #expect(await self.isRetried(after: Pushing(retryPushback: .after(.seconds(-3)))))
    #expect(await self.isRetried(after: Pushing(retryPushback: .after(.seconds(Int64.max)))))
    #expect(await self.isRetried(after: Pushing()))
    #expect(await !self.isRetried(after: Pushing(retryPushback: .stop)))
    #expect(await !self.isRetried(after: Pushing(retryPushback: .stop)) { $0.retry(limit: 1) { _, _ in true } })
    expect(self.delayer.delays, equals: [.seconds(3), .zero, .seconds(60), .seconds(7)])
  }

  @Test func `An error says whether another attempt can succeed`() async {
    #expect(await self.isRetried(after: Classified(retryClassification: .retry)))
    #expect(await self.isRetried(after: Classified(retryClassification: .retryAfter(.seconds(2)))))
    #expect(await !self.isRetried(after: Classified(retryClassification: .never)))
    expect(self.delayer.delays, equals: [.seconds(7), .seconds(2)])
  }

  @Test func `A condition decides in place of the error, which still decides the delay`() async {
    #expect(
      await self.isRetried(after: Classified(retryClassification: .never)) { $0.retry(limit: 1) { _, _ in true } }
    )
    #expect(
      await !self.isRetried(after: Classified(retryClassification: .retry)) { $0.retry(limit: 1) { _, _ in false } }
    )
    #expect(
      await self.isRetried(after: Classified(retryClassification: .retryAfter(.seconds(4)))) {
        $0.retry(limit: 1) { _, _ in true }
      }
    )
    expect(self.delayer.delays, equals: [.seconds(7), .seconds(4)])
  }

  @Test func `A state shows when the attempt after a hint begins`() async throws {
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Busy(retryAfter: .seconds(30))), .value(1))
    let store = OperationStore.detached(
      query: script.query().retry(limit: 1).honoringRetryAfter(jitter: .none).manualTime(clock)
    )
    let fetch = Task { try await store.fetch() }
    try await clock.sleepers(count: 1, .delay)
    expect(store.attempt?.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 30))
    clock.advance(by: .seconds(30))
    try await expect(fetch.value, equals: 1)
  }
}

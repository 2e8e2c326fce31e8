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

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct RetryHintTests {
  private let delayer = RecordingDelayer()

  private var context: OperationContext {
    var context = OperationContext()
    context.operationDelayer = self.delayer
    context.operationBackoffFunction = .constant(.seconds(7))
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
    #expect(self.delayer.delays == [.seconds(3), .zero, .seconds(7)])
  }

  @Test(arguments: [
    (Duration.seconds(-5), Duration.zero), (.seconds(Int64.min), .zero), (.seconds(61), .seconds(60)),
    (.seconds(Int64.max), .seconds(60)), (Duration(attoseconds: .max), .seconds(60)),
    (Duration(attoseconds: .min), .zero),
  ])
  func `A hint out of range is clamped`(hint: Duration, delay: Duration) async {
    #expect(await self.isRetried(after: Busy(retryAfter: hint)))
    #expect(await self.isRetried(after: Classified(retryClassification: .retryAfter(hint))))
    #expect(self.delayer.delays == [delay, delay])
  }

  @Test func `The cap can be set, and a negative one is reported`() async {
    #expect(
      await self.isRetried(after: Busy(retryAfter: .seconds(90))) {
        $0.retry(limit: 1).honoringRetryAfter(cap: .seconds(80))
      }
    )
    #expect(await self.isRetried(after: Busy(retryAfter: .seconds(90))) { $0.honoringRetryAfter().retry(limit: 1) })
    #expect(
      await self.isRetried(after: Busy(retryAfter: .seconds(90))) { work in
        expectWarning(.invalidArgument) { work.retry(limit: 1).honoringRetryAfter(cap: .seconds(-1)) }
      }
    )
    #expect(self.delayer.delays == [.seconds(80), .seconds(60), .zero])
  }

  @Test func `An error says whether another attempt can succeed`() async {
    #expect(await self.isRetried(after: Classified(retryClassification: .retry)))
    #expect(await self.isRetried(after: Classified(retryClassification: .retryAfter(.seconds(2)))))
    #expect(await !self.isRetried(after: Classified(retryClassification: .never)))
    #expect(self.delayer.delays == [.seconds(7), .seconds(2)])
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
    #expect(self.delayer.delays == [.seconds(7), .seconds(4)])
  }

  @Test func `A state tells when the attempt of a hint begins`() async throws {
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Busy(retryAfter: .seconds(30))), .value(1))
    let store = OperationStore.detached(query: script.query().retry(limit: 1).manualTime(clock))
    let fetch = Task { try await store.fetch() }
    try await clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.nextBegins == Date(timeIntervalSinceReferenceDate: 30))
    clock.advance(by: .seconds(30))
    #expect(try await fetch.value == 1)
  }
}

@Suite struct HTTPRetryTests {
  private let now = Date(timeIntervalSince1970: 784_111_777 - 90)  // 90 seconds before the date of the RFC.

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "  Sun, 06 Nov 1994 08:49:37 GMT  ", "90", " 90 ", "90.0",
  ])
  func `Seconds and dates in all formats are understood`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .seconds(90))
  }

  @Test(arguments: ["-5", "0", "Sat, 05 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
  func `What is past is zero`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .zero)
  }

  @Test(arguments: [
    "", " ", "soon", "nan", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "0x10", "Thu, 31 Nov 1994 08:49:37 GMT", "Mon, 30 Feb 2026 00:00:00 GMT", "Tue, 29 Feb 2100 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
  ])
  func `A malformed header is ignored`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == nil)
    #expect(RetryClassification(httpStatus: 503, retryAfter: header, now: self.now) == .retry)
  }

  @Test(arguments: ["inf", "1e300", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func `A huge header is clamped`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .seconds(100 * 365 * 86_400))
  }

  @Test func `Leap years and centuries are counted`() {
    for (header, seconds) in [
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000.0), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Monday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
    ] {
      let now = Date(timeIntervalSince1970: seconds - 10)
      #expect(OperationDuration(httpRetryAfter: header, now: now) == .seconds(10))
    }
  }

  @Test func `Status codes are worth another attempt, or are not`() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
      #expect(RetryClassification(httpStatus: status) == .retry)
      #expect(RetryClassification(httpStatus: status, retryAfter: "5") == .retryAfter(.seconds(5)))
    }
    for status in [200, 301, 400, 401, 403, 404, 409, 410, 422, 501, 505, -1, .max] {
      #expect(RetryClassification(httpStatus: status, retryAfter: "5") == .never)
    }
  }
}

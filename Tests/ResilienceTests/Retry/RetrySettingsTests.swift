import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetrySettingsTests {
  private let attempts = Attempts()

  private struct Busy: RetryHinting {
    var retryAfter: OperationDuration? = .seconds(40)
  }

  @Test func `A limit that is changed counts for a store that exists`() async {
    let settings = RetrySettings(limit: 1)
    let runner = OperationRunner(
      operation: self.attempts.failing().retry(using: settings),
      initialContext: .withoutDelays
    )
    _ = try? await runner.run()
    expect(self.attempts.count, equals: 2)
    settings.update(limit: 3)
    _ = try? await runner.run()
    expect(self.attempts.count, equals: 6)
    settings.update(limit: 0)
    _ = try? await runner.run()
    expect(self.attempts.count, equals: 7)
    expect(self.attempts.all.map(\.maximum), equals: [1, 1, 3, 3, 3, 3, 0])
  }

  @Test func `A limit that is changed while a run waits counts for that run`() async throws {
    let settings = RetrySettings(limit: 5)
    var context = OperationContext()
    context.operationDelayer = RecordingDelayer { count in
      if count == 2 { settings.update(limit: 2) }
    }
    await #expect(throws: Refused(code: 3)) {
      try await self.attempts.failing().retry(using: settings).runOnce(in: context)
    }
  }

  @Test func `The backoff, the cap and the jitter of the settings replace those of the context`() async {
    let delayer = RecordingDelayer()
    var context = OperationContext()
    context.operationDelayer = delayer
    context.operationBackoffFunction = .constant(.seconds(7))
    let settings = RetrySettings(
      limit: 1,
      backoff: .constant(.seconds(2)),
      retryAfterCap: .seconds(30),
      retryAfterJitter: RetryAfterJitter.none
    )
    let busy = Work<Int, any Error> { _, _ in throw Busy() }
    _ = try? await self.attempts.failing().retry(using: settings).runOnce(in: context)
    _ = try? await busy.retry(using: settings).runOnce(in: context)
    settings.update(backoff: .constant(.seconds(3)), retryAfterCap: .seconds(20))
    _ = try? await self.attempts.failing().retry(using: settings).runOnce(in: context)
    _ = try? await busy.retry(using: settings).runOnce(in: context)
    _ = try? await self.attempts.failing().retry(using: RetrySettings(limit: 1)).runOnce(in: context)
    expect(delayer.delays, equals: [.seconds(2), .seconds(30), .seconds(3), .seconds(20), .seconds(7)])
  }

  @Test func `The budget of the settings bounds the retries, and can be replaced`() async {
    let settings = RetrySettings(limit: 9, budget: RetryBudget(ratio: 2, minimumPerSecond: 0))
    _ = try? await self.attempts.failing().retry(using: settings).runOnce()
    expect(self.attempts.count, equals: 3)
    settings.update(budget: RetryBudget(ratio: 1, minimumPerSecond: 0))
    _ = try? await self.attempts.failing().retry(using: settings).runOnce()
    expect(self.attempts.count, equals: 5)
    #expect(settings.snapshot().retries == 3 && settings.snapshot().refusals == 15)
    expect(settings.snapshot().gauges, equals: ["retry.limit": 9, "retry.retries": 3, "retry.refusals": 15])
  }

  @Test(arguments: [true, false])
  func `A limit that the operation sets by hand stays`(isSetUp: Bool) async throws {
    let operation = self.attempts.failing { $0.operationMaxRetries = 1 }.retry(using: RetrySettings(limit: 5))
    _ = try? await operation.run(isSetUp: isSetUp)
    expect(self.attempts.count, equals: (isSetUp ? 2 : 6))
  }

  @Test func `A condition decides as well`() async {
    let operation = self.attempts.failing().retry(using: RetrySettings(limit: 5)) { error, _ in
      (error as? Refused)?.code == 1
    }
    _ = try? await operation.runOnce()
    expect(self.attempts.count, equals: 2)
  }

  @Test(arguments: [(0, 0), (7, 7), (Int.max, Int.max)])
  func `A limit without a sign is taken as it is`(limit: Int, effective: Int) {
    let settings = RetrySettings(limit: limit)
    expect(settings.limit, equals: effective)
    settings.update(limit: 1)
    settings.update(limit: limit)
    expect(settings.limit, equals: effective)
  }

  @Test(arguments: [-1, Int.min]) func `A negative limit and a negative cap are reported`(limit: Int) {
    let settings = expectWarning(.invalidArgument) { RetrySettings(limit: limit) }
    expectWarning(.invalidArgument) { _ = RetrySettings(retryAfterCap: .seconds(-1)) }
    expect(settings.limit, equals: 0)
  }

  @Test(arguments: [-1, Int.min]) func `An impossible update is reported, and changes nothing`(number: Int) {
    let settings = RetrySettings(limit: 3, retryAfterCap: .seconds(5))
    expectWarning(.invalidArgument) { #expect(!settings.update(limit: number, retryAfterCap: .seconds(9))) }
    expectWarning(.invalidArgument) { #expect(!settings.update(limit: 1, retryAfterCap: .seconds(number))) }
    expect(settings.limit, equals: 3)
    #expect(settings.update(limit: 0, retryAfterCap: .zero))
    expect(settings.limit, equals: 0)
  }

  @Test(arguments: [(Duration.zero, Duration.zero), (.seconds(Int64.max), .seconds(40))])
  func `A cap may be zero or huge`(cap: Duration, delay: Duration) async {
    let delayer = RecordingDelayer()
    var context = OperationContext()
    context.operationDelayer = delayer
    let busy = Work<Int, any Error> { _, _ in throw Busy() }
    let exact = RetryAfterJitter.none
    let fixed = RetrySettings(limit: 1, retryAfterCap: cap, retryAfterJitter: exact)
    let changed = RetrySettings(limit: 1, retryAfterCap: .seconds(1), retryAfterJitter: exact)
    changed.update(retryAfterCap: cap)
    for settings in [fixed, changed] { _ = try? await busy.retry(using: settings).runOnce(in: context) }
    expect(delayer.delays, equals: [delay, delay])
  }

  @Test func `A change is a notice, and the snapshot has a name`() throws {
    let notices = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [notices]
    let settings = RetrySettings(name: "posts", backoff: .constant(.seconds(1)), budget: RetryBudget(name: "all"))
    settings.update(limit: 4, in: context)
    settings.update(limit: 4, retryAfterCap: .seconds(9), in: context)
    settings.update(limit: 4, retryAfterCap: .seconds(9), in: context)
    settings.update(backoff: .constant(.seconds(1)), retryAfterJitter: RetryAfterJitter.none, in: context)
    let backoff = "\(OperationBackoffFunction.constant(.seconds(1)))"
    let budget = "retry.budget=0.2 for each run, and 10.0 a second"
    expect(
      notices.descriptions,
      equals: [
        "retry.settings_changed retry.backoff=\(backoff) \(budget) retry.limit=4 retry.limit.previous=3"
          + " retry.name=posts",
        "retry.settings_changed retry.after_cap=9 s retry.backoff=\(backoff) \(budget) retry.limit=4 retry.name=posts",
        "retry.settings_changed retry.after_cap=9 s retry.after_jitter=up to 0.0 of the hint retry.backoff=\(backoff)"
          + " retry.backoff.previous=\(backoff) \(budget) retry.limit=4 retry.name=posts",
      ]
    )
    let snapshot = settings.snapshot()
    #expect(snapshot.name == "posts" && snapshot.limit == 4 && snapshot.budget?.name == "all")
    #expect(snapshot.description.hasPrefix("posts: at most 4 retries"))
    #expect(try !JSONEncoder().encode(snapshot).isEmpty)
    expect(RetrySettings().snapshot().name, equals: "retry settings")
  }

  @Test func `What the settings replace is released`() {
    let tracker = ReleaseCount()
    let settings = RetrySettings(backoff: tracker.backoff(using: OperationContext()))
    settings.update(backoff: .noBackoff)
    expect(tracker.releases.count, equals: 1)
  }
}

/// Counts the functions that are released.
private struct ReleaseCount {
  let releases = Log<Int>()

  func backoff(using context: OperationContext) -> OperationBackoffFunction {
    let token = Token(releases: self.releases)
    return OperationBackoffFunction { _ in
      withExtendedLifetime(token) { .zero }
    }
  }

  private final class Token: Sendable {
    let releases: Log<Int>

    init(releases: Log<Int>) {
      self.releases = releases
    }

    deinit { self.releases.append(1) }
  }
}

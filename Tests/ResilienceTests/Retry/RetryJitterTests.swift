import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

private struct Busy: RetryHinting, Hashable {
  var retryAfter: OperationDuration?
}

private struct Full: RetryHinting, LocalRejection {
  var retryAfter: OperationDuration?
}

@Suite(.bounded, .warningsAreIssues) struct RetryJitterTests {
  private let delayer = RecordingDelayer()

  /// Runs an operation of many clients, each of which fails once.
  private func run(
    clients: Int = 1,
    after error: any Error = Busy(retryAfter: .seconds(30)),
    configure: (inout OperationContext) -> Void = { _ in },
    modify: (Work<Int, any Error>) -> any OperationRequest<Int, any Error> = { $0.retry(limit: 1) }
  ) async throws {
    var context = OperationContext()
    context.operationDelayer = self.delayer
    configure(&context)
    for _ in 0..<clients {
      let work = Work<Int, any Error> { context, _ in
        if context.isFirstRunAttempt { throw error }
        return 1
      }
      _ = try await modify(work).runOnce(in: context)
    }
  }

  @Test func `A thousand clients with one hint spread over a tenth of it, none earlier than the hint`() async throws {
    try await self.run(clients: 1000)
    let delays = self.delayer.delays.sorted()
    #expect(delays.allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(33) })
    #expect(Set(delays).count > 990)
    // They fill the range.
    #expect(delays[0] < .seconds(30.1) && delays[500] > .seconds(31.2) && delays[999] > .seconds(32.9))
  }

  @Test func `The cap and the deadline hold`() async throws {
    try await self.run(clients: 100, after: Busy(retryAfter: .seconds(59)))
    #expect(self.delayer.delays.allSatisfy { $0 >= .seconds(59) && $0 <= .seconds(60) })
    #expect(Set(self.delayer.delays).count > 90)
    try await self.run(clients: 10, after: Busy(retryAfter: .seconds(61)))
    #expect(self.delayer.delays[100...].allSatisfy { $0 == .seconds(60) })
    let clock = ManualClock()
    try await self.run(clients: 100) {
      $0.use(clock)
      $0.operationDelayer = self.delayer
      $0.operationDeadline = clock.instant + .seconds(31)
    }
    #expect(self.delayer.delays[110...].allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(30.5) })
  }

  @Test func `A generator with a seed makes the same delays again`() async throws {
    for _ in 0..<2 {
      let jitter = RetryAfterJitter.proportional(0.5, using: SeededGenerator(seed: 4))
      try await self.run(clients: 20, modify: { $0.retry(limit: 1).honoringRetryAfter(jitter: jitter) })
    }
    let delays = self.delayer.delays
    expect(Array(delays[..<20]), equals: Array(delays[20...]))
    expect(Set(delays).count, equals: 20)
    #expect(delays.allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(45) })
  }

  @Test func `The hint of a breaker or limit is spread like one of a server`() async throws {
    try await self.run(clients: 1000, after: Full(retryAfter: .seconds(30)))
    let delays = self.delayer.delays.sorted()
    #expect(delays[0] >= .seconds(30) && delays[0] < .seconds(30.1))
    #expect(delays[999] > .seconds(32.9) && delays[999] <= .seconds(33))
    try await self.run(clients: 3, after: Full(retryAfter: .seconds(61)))
    #expect(self.delayer.delays[1000...].allSatisfy { $0 == .seconds(60) })
  }

  @Test func `A jitter for servers alone leaves the hints of this process exact`() async throws {
    let jitter = RetryAfterJitter.proportional(0.5).spreadingOnlyServers()
    #expect(jitter.fraction == 0.5 && !jitter.spreadsLocalHints)
    expect("\(jitter)", equals: "up to 0.5 of the hint of a server")
    try await self.run(
      clients: 3,
      after: Full(retryAfter: .seconds(30)),
      modify: { $0.retry(limit: 1).honoringRetryAfter(jitter: jitter) }
    )
    expect(self.delayer.delays, equals: Array(repeating: .seconds(30), count: 3))
    try await self.run(clients: 20, modify: { $0.retry(limit: 1).honoringRetryAfter(jitter: jitter) })
    #expect(Set(self.delayer.delays[3...]).count > 15)
  }

  @Test func `Hints without jitter, and hints of zero, are exact`() async throws {
    try await self.run(clients: 3, modify: { $0.retry(limit: 1).honoringRetryAfter(jitter: .none) })
    try await self.run(
      clients: 3,
      after: Full(retryAfter: .seconds(30)),
      modify: { $0.retry(limit: 1).honoringRetryAfter(jitter: .none) }
    )
    try await self.run(clients: 3, after: Busy(retryAfter: .zero))
    expect(self.delayer.delays, equals: Array(repeating: .seconds(30), count: 6) + Array(repeating: .zero, count: 3))
  }

  @Test(arguments: [(-1.0, 0.0), (.nan, 0), (0, 0), (0.25, 0.25), (7, 1), (.infinity, 1)])
  func `A fraction out of range is clamped`(fraction: Double, effective: Double) {
    expect(RetryAfterJitter.proportional(fraction).fraction, equals: effective)
  }

  @Test func `A negative cap in the context is reported, and never reaches the delayer`() async throws {
    var context = OperationContext()
    expectWarning(.invalidArgument) { context.operationRetryAfterCap = .seconds(-5) }
    expect(context.operationRetryAfterCap, equals: .zero)
    try await self.run { $0.operationRetryAfterCap = context.operationRetryAfterCap }
    expect(self.delayer.delays, equals: [.zero])
  }

  @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max), .nanoseconds(1)])
  func `Extreme hints and caps do not overflow`(hint: Duration) async throws {
    try await self.run(after: Busy(retryAfter: hint)) { $0.operationRetryAfterCap = Duration(attoseconds: .max) }
    #expect(self.delayer.delays[0] >= min(hint, .seconds(100 * 365 * 86_400)))
  }
}

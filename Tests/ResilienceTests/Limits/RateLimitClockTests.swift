import Foundation
import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A rate limit under clocks that do not go evenly.
@Suite(.bounded, .warningsAreIssues) struct RateLimitClockTests {
  @Test(arguments: [
    (1, Duration.seconds(1), 1), (3, .seconds(1), 1), (3, .seconds(1), 3), (7, .milliseconds(13), 5),
    (100, .seconds(60), 10), (1, .seconds(600), 2),
  ])
  func `It is exact over an hour in which the clock is set back and jumps ahead`(
    count: Int,
    period: Duration,
    burst: Int
  ) {
    let deadlines = JumpingDeadlines()
    let clock = ManualClock()
    let limit = RateLimit(count, per: period, burst: burst)
    var context = OperationContext()
    context.use(clock)
    context.operationDeadlines = deadlines
    var bucket = TokenBucket(count: count, period: period, burst: burst)
    var generator = SeededGenerator(seed: UInt64(burst))
    var (now, admitted, asked) = (Duration.zero, 0, 0)
    let hour = Duration.seconds(3600)
    let step = max(period / count, hour / 20_000).attoseconds
    while now < hour {
      switch Int.random(in: 0..<40, using: &generator) {
      case 0: now -= Duration(attoseconds: Int128.random(in: 0...(20 * step), using: &generator))
      case 1: now += Duration(attoseconds: Int128.random(in: 0...(20 * step), using: &generator))
      case 2: clock.setDate(Bool.random(using: &generator) ? .distantPast : .distantFuture)
      default: now += Duration(attoseconds: Int128.random(in: 0...(2 * step), using: &generator))
      }
      deadlines.time.withLock { $0 = now }
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        asked += 1
        let isAdmitted = limit.takePermit(in: context) != nil
        if isAdmitted { admitted += 1 }
        guard isAdmitted == bucket.take(at: now) else {
          Issue.record("the limit differs from the reference at \(now), after \(asked) runs")
          return
        }
      }
    }
    #expect(admitted > 0 && admitted < asked)
  }
}

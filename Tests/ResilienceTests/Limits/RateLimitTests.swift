import Foundation
import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RateLimitTests {
  @Test(arguments: [
    (1, Duration.seconds(1), 1), (3, .seconds(1), 1), (3, .seconds(1), 3), (7, .milliseconds(13), 5),
    (100, .seconds(60), 10),
    (1000, .seconds(1), 50), (1, .seconds(3600), 2), (999_999_937, .seconds(86_400 * 365), 4),
  ])
  func `It is exact over an hour`(count: Int, period: Duration, burst: Int) {
    let clock = ManualClock()
    let limit = RateLimit(count, per: period, burst: burst)
    var context = OperationContext()
    context.use(clock)
    var bucket = TokenBucket(count: count, period: period, burst: burst)
    var generator = SeededGenerator(seed: UInt64(count))
    var (admitted, asked) = (0, 0)
    // The mean step is the interval of the rate, so that the bucket is neither full nor empty for long.
    let interval = period.attoseconds / Int128(count)
    let hour = Duration.seconds(3600).attoseconds
    let steps = min(Int(hour / max(interval, hour / 20_000)), 20_000)
    let meanStep = hour / Int128(max(steps, 2000))
    while clock.elapsed < .seconds(3600) {
      clock.advance(by: Duration(attoseconds: Int128.random(in: 0...(2 * meanStep), using: &generator)))
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        asked += 1
        let isAdmitted = limit.takePermit(in: context) != nil
        if isAdmitted { admitted += 1 }
        guard isAdmitted == bucket.take(at: clock.elapsed) else {
          Issue.record("the limit differs from the reference at \(clock.elapsed), after \(asked) runs")
          return
        }
      }
    }
    #expect(admitted > 0)
  }

  @Test func `A saturated limit admits exactly its rate for an hour`() {
    let clock = ManualClock()
    let limit = RateLimit(3, per: .seconds(1), burst: 1)
    var context = OperationContext()
    context.use(clock)
    var admitted = 0
    for _ in 0..<36_000 {
      if limit.takePermit(in: context) != nil { admitted += 1 }
      clock.advance(by: .milliseconds(100))
    }
    // Permits come at multiples of a third of a second, and runs at multiples of a tenth: at most one in 0.4 s.
    expect(admitted, equals: 3600 / 2 * 5)
    let third = Duration(attoseconds: Duration.seconds(1).attoseconds / 3 + 1)
    clock.advance(by: .seconds(10))
    admitted = 0
    let end = clock.elapsed + .seconds(3600)
    while clock.elapsed < end {
      if limit.takePermit(in: context) != nil { admitted += 1 }
      #expect(limit.takePermit(in: context) == nil)
      clock.advance(by: third)
    }
    expect(admitted, equals: 10_800)
  }

  @Test func `No burst is above the burst, however long the pause`() {
    let clock = ManualClock()
    let limit = RateLimit(100, per: .seconds(1), burst: 5)
    var context = OperationContext()
    context.use(clock)
    for pause in [Duration.zero, .seconds(1), .seconds(1_000_000), .seconds(Int64.max)] {
      clock.advance(by: pause)
      expect((0..<100).count { _ in limit.takePermit(in: context) != nil }, equals: 5)
    }
  }

  @Test func `A system clock that is set changes nothing`() {
    let clock = ManualClock()
    let limit = RateLimit(1, per: .seconds(10))
    var context = OperationContext()
    context.use(clock)
    #expect(limit.takePermit(in: context) != nil)
    for date in [Date.distantFuture, .distantPast] {
      clock.setDate(date)
      #expect(limit.takePermit(in: context) == nil)
    }
    clock.advance(by: .seconds(10))
    #expect(limit.takePermit(in: context) != nil)
    #expect(limit.takePermit(in: context) == nil)
  }

  @Test func `A source of deadlines that goes back gives no permit twice`() {
    let source = JumpingDeadlines()
    let limit = RateLimit(1, per: .seconds(10))
    var context = OperationContext()
    context.operationDeadlines = source
    source.time.withLock { $0 = .seconds(100) }
    #expect(limit.takePermit(in: context) != nil)
    source.time.withLock { $0 = .seconds(0) }
    #expect(limit.takePermit(in: context) == nil)
    source.time.withLock { $0 = .seconds(109) }
    #expect(limit.takePermit(in: context) == nil)
    source.time.withLock { $0 = .seconds(110) }
    #expect(limit.takePermit(in: context) != nil)
  }

  @Test func `Runs beyond the rate begin one after the other, with one timer`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(10)))
    let tasks = (0..<4).map { _ in limiting.begin() }
    expect(limiting.limit.waitingCount, equals: 3)
    expect(limiting.clock.remainingTimes(), equals: [.seconds(10)])
    try await limiting.script.next().succeed(0)
    try await expect(tasks[0].value, equals: 0)
    for number in 1...3 {
      limiting.clock.advance(by: .seconds(10))
      try await limiting.script.next().succeed(number)
      try await expect(tasks[number].value, equals: number)
      expect(limiting.limit.waitingCount, equals: 3 - number)
    }
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run whose turn would come too late is rejected at once, with the time until its turn`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(10)), maximumWait: .seconds(20))
    let tasks = (0..<3).map { _ in limiting.begin() }
    await limiting.expectRejection(.seconds(30))
    limiting.clock.advance(by: .seconds(1))
    await limiting.expectRejection(.seconds(29))
    let late = limiting.begin(deadline: .seconds(5))
    await #expect(throws: OperationRejected(retryAfter: .seconds(29))) { try await late.value }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `A waiter that leaves moves the later ones forward`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(10)))
    let tasks = (0..<4).map { _ in limiting.begin() }
    tasks[1].cancel()
    tasks[2].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    await #expect(throws: CancellationError.self) { try await tasks[2].value }
    limiting.clock.advance(by: .seconds(10))
    for number in [0, 3] {
      try await limiting.script.next().succeed(number)
      try await expect(tasks[number].value, equals: number)
    }
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `Permits that come back unused when the bucket is full again make no larger burst`() throws {
    let limiting = Limiting(RateLimit(10, per: .seconds(1)))
    let (limit, context) = (limiting.limit, limiting.context)
    let held = (0..<10).compactMap { _ in limit.takePermit(in: context) }
    limiting.clock.advance(by: .milliseconds(1_990))
    expect((0..<40).count { _ in limit.takePermit(in: context) != nil }, equals: 10)
    limiting.clock.advance(by: .milliseconds(10))
    for permit in held { limit.returnPermit(permit, after: .unused, in: context) }
    expect((0..<40).count { _ in limit.takePermit(in: context) != nil }, equals: 0)
    limiting.clock.advance(by: .milliseconds(90))
    expect((0..<40).count { _ in limit.takePermit(in: context) != nil }, equals: 1)
  }

  @Test(arguments: [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
  func `Permits that come back at once are there again, in whatever order they come`(order: [Int]) {
    let limiting = Limiting(RateLimit(5, per: .seconds(60)))
    let (limit, context) = (limiting.limit, limiting.context)
    limiting.clock.advance(by: .seconds(100))
    let held = (0..<5).compactMap { _ in limit.takePermit(in: context) }
    for index in order { limit.returnPermit(held[index], after: .unused, in: context) }
    expect(limit.snapshot(in: context).available, equals: 5)
  }

  @Test func `An unused permit goes to the next run`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(10)))
    let permit = try #require(limiting.limit.takePermit(in: limiting.context))
    let task = limiting.begin()
    limiting.limit.returnPermit(permit, after: .unused, in: limiting.context)
    try await limiting.script.next().succeed(4)
    try await expect(task.value, equals: 4)
    #expect(limiting.limit.takePermit(in: limiting.context) == nil)
    limiting.clock.advance(by: .seconds(10))
    #expect(limiting.limit.takePermit(in: limiting.context) != nil)
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = RateLimit(0, per: .seconds(1)) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(Int.max, per: .seconds(1)) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .zero) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .seconds(Int64.max)) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .seconds(1), burst: 0) }
  }
}

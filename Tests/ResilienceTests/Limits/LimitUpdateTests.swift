import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Limits whose settings change while runs are under way and wait.
@Suite(.bounded, .warningsAreIssues) struct LimitUpdateTests {
  @Test func `More permits admit waiting runs at once, and fewer wait for those under way`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1))
    let tasks = (0..<4).map { _ in limiting.begin() }
    expect(limiting.script.runCount, equals: 1)
    #expect(limiting.limit.update(permits: 3))
    #expect(limiting.limit.activeCount == 3 && limiting.limit.waitingCount == 1 && limiting.limit.permits == 3)
    #expect(limiting.limit.update(permits: 1))
    expect(limiting.limit.activeCount, equals: 3)
    for _ in 0..<2 { try await limiting.script.next().succeed(1) }
    expect(limiting.limit.waitingCount, equals: 1)
    for _ in 0..<2 { try await limiting.script.next().succeed(1) }
    for task in tasks { try await expect(task.value, equals: 1) }
    #expect(limiting.limit.activeCount == 0 && limiting.clock.sleeperCount() == 0)
  }

  @Test func `A shorter queue keeps the runs that wait, and rejects new ones`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1, queue: 3))
    let tasks = (0..<4).map { _ in limiting.begin() }
    #expect(limiting.limit.update(queue: 1))
    expect(limiting.limit.waitingCount, equals: 3)
    await limiting.expectRejection(nil)
    for _ in 0..<4 { try await limiting.script.next().succeed(1) }
    for task in tasks { try await expect(task.value, equals: 1) }
  }

  @Test func `An update that changes something is a notice with what was before`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [log]
    let limit = ConcurrencyLimit(1, name: "posts")
    limit.update(permits: 2, in: context)
    limit.update(permits: 2, in: context)
    limit.update(queue: 5, order: .adaptiveLIFO(after: .seconds(1)), in: context)
    limit.update(permits: 9)
    RateLimit(1, per: .seconds(1), name: "quota").update(6, burst: 2, in: context)
    AdaptiveLimit(minimum: 1, maximum: 4).update(minimum: 2, decrease: 0.5, in: context)
    let settings = "limit.decrease=0.5 limit.decrease.previous=0.75 limit.maximum=4.0 limit.minimum=2.0"
    expect(
      log.descriptions,
      equals: [
        "limit.changed limit.name=posts limit.order=.firstComeFirstServed limit.queue=10000 limit.reason=update"
          + " limit.value=2.0 limit.value.previous=1.0",
        "limit.changed limit.name=posts limit.order=.adaptiveLIFO(after: 1 s)"
          + " limit.order.previous=.firstComeFirstServed limit.queue=5 limit.queue.previous=10000 limit.reason=update"
          + " limit.value=2.0",
        "limit.changed limit.burst=2 limit.burst.previous=1 limit.name=quota limit.order=.firstComeFirstServed"
          + " limit.period=1 s limit.queue=10000 limit.reason=update limit.value=6.0 limit.value.previous=1.0",
        "limit.changed \(settings) limit.minimum.previous=1.0 limit.order=.firstComeFirstServed limit.queue=10000"
          + " limit.reason=update limit.tolerance=1.2 limit.value=2.0 limit.value.previous=1.0",
      ]
    )
  }

  @Test func `A change of shares is a notice without the names of the partitions`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [log]
    let limit = PartitionedLimit(3, shares: ["gold": PartitionShare(guaranteed: 1)], name: "posts") { _ in "" }
    limit.update(shares: ["gold": PartitionShare(guaranteed: 1)], in: context)
    limit.update(shares: ["silver": PartitionShare(guaranteed: 1)], in: context)
    limit.update(permits: 4, in: context)
    expectWarning(.invalidArgument) { limit.update(permits: 0, in: context) }
    expect(
      log.descriptions,
      equals: [
        "limit.changed limit.name=posts limit.queue=10000 limit.reason=update limit.shares=1 limit.shares.previous=1"
          + " limit.value=3.0",
        "limit.changed limit.name=posts limit.queue=10000 limit.reason=update limit.shares=1 limit.value=4.0"
          + " limit.value.previous=3.0",
      ]
    )
  }

  @Test func `Huge numbers of runs and huge waits are possible`() async throws {
    let longest = Duration(attoseconds: .max)
    let limits: [any OperationLimit] = [
      ConcurrencyLimit(.max, queue: .max), RateLimit(1_000_000_000, per: .seconds(1), queue: .max),
      AdaptiveLimit(minimum: 1, maximum: .max, queue: .max), PartitionedLimit(1_000_000_000, queue: .max) { _ in "" },
    ]
    for limit in limits { #expect(try await limit.useOnce(waiting: longest)) }
    // The run that waits does so until there is a permit.
    let limiting = Limiting(ConcurrencyLimit(1), maximumWait: longest)
    let tasks = [limiting.begin(), limiting.begin()]
    limiting.clock.advance(by: .seconds(1_000_000))
    for _ in tasks { try await limiting.script.next().succeed(1) }
    for task in tasks { try await expect(task.value, equals: 1) }
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `A rate limit keeps the permits that are missing, which come at the new rate`() {
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let limit = RateLimit(1, per: .seconds(1), burst: 10)
    for _ in 0..<10 { #expect(limit.takePermit(in: context) != nil) }
    clock.advance(by: .seconds(5))
    // Five have come at the old rate. The other five come at ten a second.
    #expect(limit.update(10, in: context))
    expect(limit.snapshot(in: context).available, equals: 5)
    for _ in 0..<5 { #expect(limit.takePermit(in: context) != nil) }
    #expect(limit.takePermit(in: context) == nil)
    clock.advance(by: .milliseconds(100))
    #expect(limit.takePermit(in: context) != nil)
    #expect(limit.takePermit(in: context) == nil)
    // A larger bucket has its new permits at once.
    #expect(limit.update(burst: 12, in: context))
    for _ in 0..<2 { #expect(limit.takePermit(in: context) != nil) }
    #expect(limit.takePermit(in: context) == nil)
    #expect((limit.count, limit.burst, limit.period) == (10, 12, .seconds(1)))
  }

  @Test func `An update without a context keeps the permits that have come since the last run`() {
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let limit = RateLimit(10, per: .seconds(1))
    for _ in 0..<10 { #expect(limit.takePermit(in: context) != nil) }
    clock.advance(by: .seconds(3_600))
    expect(limit.snapshot().available, equals: 10)
    #expect(limit.update(1, per: .seconds(60), burst: 10))
    expect((0..<20).count { _ in limit.takePermit(in: context) != nil }, equals: 10)
    // A limit that no run has used has all of its permits.
    let unused = RateLimit(10, per: .seconds(1))
    #expect(unused.update(1, per: .seconds(60), burst: 3))
    expect(unused.snapshot().available, equals: 3)
  }

  @Test func `A run that waits begins at the new rate, or is rejected at its longest wait`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(10), burst: 1), maximumWait: .seconds(60))
    try await limiting.script.next(after: limiting.begin())
    let second = limiting.begin()
    limiting.clock.advance(by: .seconds(1))
    #expect(limiting.limit.update(1, per: .seconds(2), in: limiting.context))
    // Nine tenths of a permit are missing: 1.8 s at the new rate.
    limiting.clock.advance(by: .milliseconds(1799))
    expect(limiting.script.runCount, equals: 1)
    limiting.clock.advance(by: .milliseconds(1))
    try await limiting.script.next().succeed(2)
    try await expect(second.value, equals: 2)
    let third = limiting.begin()
    #expect(limiting.limit.update(1, per: .seconds(1000), in: limiting.context))
    limiting.clock.advance(by: .seconds(60))
    await #expect(throws: OperationRejected(retryAfter: nil)) { try await third.value }
    #expect(limiting.limit.waitingCount == 0 && limiting.clock.sleeperCount() == 0)
  }

  @Test func `An adaptive limit moves into its new range at once, and says why it has its number`() {
    let limit = AdaptiveLimit(minimum: 4, maximum: 10, name: "posts")
    expect(limit.snapshot().reason, equals: .initial)
    #expect(limit.update(minimum: 6))
    #expect(limit.limit == 6 && limit.snapshot().reason == .update)
    #expect(limit.update(minimum: 1, maximum: 3, tolerance: 2))
    expect(limit.limit, equals: 3)
    expect(limit.snapshot().description, equals: "posts: 0 of 3 runs under way (update, 1 to 3), 0 waiting, 0 rejected")
    var permits = (0..<3).compactMap { _ in limit.takePermit(in: OperationContext()) }
    #expect(permits.count == 3 && limit.takePermit(in: OperationContext()) == nil)
    while let permit = permits.popLast() {
      limit.returnPermit(permit, after: .failed(Refused()), in: OperationContext())
    }
    #expect(limit.snapshot().reason == .failures && limit.limit == 2)
  }

  @Test func `Impossible settings are reported, and the last good ones stay`() {
    let concurrency = ConcurrencyLimit(2, queue: 3)
    for permits in [0, -1, Int.min] {
      expectWarning(.invalidArgument) { #expect(!concurrency.update(permits: permits, queue: 7)) }
    }
    expectWarning(.invalidArgument) { #expect(!concurrency.update(permits: 5, queue: -1)) }
    #expect(concurrency.permits == 2 && concurrency.snapshot().queue == 3)
    #expect(concurrency.update(permits: .max, queue: .max))
    let rate = RateLimit(2, per: .seconds(1))
    for count in [0, -1, 1_000_000_001, Int.max, Int.min] {
      expectWarning(.invalidArgument) { #expect(!rate.update(count)) }
      expectWarning(.invalidArgument) { #expect(!rate.update(burst: count)) }
    }
    for period in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
      expectWarning(.invalidArgument) { #expect(!rate.update(per: period)) }
    }
    expectWarning(.invalidArgument) { #expect(!rate.update(queue: -1)) }
    #expect((rate.count, rate.burst, rate.period) == (2, 2, .seconds(1)))
    #expect(rate.update(1_000_000_000, per: .seconds(100 * 365 * 86_400), burst: 1_000_000_000, queue: .max))
    let adaptive = AdaptiveLimit(minimum: 2, maximum: 4)
    expectWarning(.invalidArgument) { #expect(!adaptive.update(minimum: 0)) }
    expectWarning(.invalidArgument) { #expect(!adaptive.update(minimum: 5)) }
    expectWarning(.invalidArgument) { #expect(!adaptive.update(maximum: 1)) }
    for number in [0, -1, .nan, .infinity, 1e300] {
      expectWarning(.invalidArgument) { #expect(!adaptive.update(decrease: number)) }
      expectWarning(.invalidArgument) { #expect(!adaptive.update(tolerance: number)) }
    }
    expectWarning(.invalidArgument) { #expect(!adaptive.update(queue: -1)) }
    #expect(adaptive.limit == 2 && adaptive.snapshot().maximum == 4)
    #expect(adaptive.update(maximum: .max))
  }

  @Test func `A rate limit rejects runs beyond its queue at once, with the time until their turn`() async throws {
    let limiting = Limiting(RateLimit(1, per: .seconds(1), queue: 1))
    try await limiting.script.next(after: limiting.begin())
    let second = limiting.begin()
    await limiting.expectRejection(.seconds(2))
    expect(limiting.limit.snapshot().rejections, equals: 1)
    limiting.clock.advance(by: .seconds(1))
    try await limiting.script.next().succeed(2)
    try await expect(second.value, equals: 2)
    expect(limiting.clock.sleeperCount(), equals: 0)
  }
}

extension OperationScript where Value == Int, Failure == any Error {
  /// Lets a run succeed that has begun.
  fileprivate func next(after task: Task<Int, any Error>) async throws {
    try await self.next().succeed(1)
    _ = try await task.value
  }
}

extension OperationLimit {
  /// Waits for a permit and returns it. Returns whether it has got one.
  fileprivate func useOnce(waiting maximumWait: Duration) async throws -> Bool {
    let permit = try await self.waitForPermit(in: OperationContext(), maximumWait: maximumWait)
    self.returnPermit(permit, after: .succeeded, in: OperationContext())
    return true
  }
}

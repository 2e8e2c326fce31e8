import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct HedgeTests {
  @Test func `A run that ends in time is not hedged, and leaves no timer`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = hedging.begin()
    let run = try await hedging.script.next()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(100)])
    hedging.clock.advance(by: .milliseconds(99))
    run.succeed(1)
    try await expect(task.value, equals: 1)
    expect(hedging.script.runCount, equals: 1)
    expect(hedging.clock.sleeperCount(), equals: 0)
  }

  @Test func `The next run begins after the delay, and the first success wins`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = hedging.begin()
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    expect(first.context.operationHedgeIndex, equals: 0)
    expect(second.context.operationHedgeIndex, equals: 1)
    second.succeed(2)
    try await expect(task.value, equals: 2)
    #expect(first.isCancelled)
    expect(hedging.script.activeRunCount, equals: 0)
  }

  @Test func `The first run can still win`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = hedging.begin()
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    first.succeed(1)
    try await expect(task.value, equals: 1)
    #expect(second.isCancelled)
  }

  @Test func `There are at most as many runs as allowed, each after the delay`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 4)
    let task = hedging.begin()
    var runs = [try await hedging.script.next()]
    for count in 2...4 {
      hedging.clock.advance(by: .milliseconds(99))
      expect(hedging.script.runCount, equals: count - 1)
      hedging.clock.advance(by: .milliseconds(1))
      runs.append(try await hedging.script.next())
    }
    expect(hedging.clock.sleeperCount(), equals: 0)
    runs[2].succeed(3)
    try await expect(task.value, equals: 3)
    expect(hedging.script.runCount, equals: 4)
  }

  @Test func `The cancelled runs are awaited`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), endsOnCancellation: false)
    let ended = Gate()
    let task = hedging.begin()
    let watching = Task {
      _ = await task.result
      ended.open()
    }
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    try await hedging.script.next().succeed(2)
    try await first.cancelled()
    #expect(!ended.isOpen)
    first.succeed(1)
    try await expect(task.value, equals: 2)
    await watching.value
  }

  @Test func `A failure starts the next run at once, and the delay begins anew`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 3)
    let task = hedging.begin()
    hedging.clock.advance(by: .milliseconds(40))
    try await hedging.script.next().fail(Refused(code: 1))
    let second = try await hedging.script.next()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(100)])
    hedging.clock.advance(by: .milliseconds(99))
    expect(hedging.script.runCount, equals: 2)
    hedging.clock.advance(by: .milliseconds(1))
    let third = try await hedging.script.next()
    second.fail(Refused(code: 2))
    third.succeed(3)
    try await expect(task.value, equals: 3)
  }

  @Test func `When all runs have failed, the last failure is thrown`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 3)
    let task = hedging.begin()
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    second.fail(Refused(code: 2))
    try await hedging.script.next().fail(Refused(code: 3))
    first.fail(Refused(code: 1))
    await #expect(throws: Refused.self) { try await task.value }
    expect(hedging.script.runCount, equals: 3)
    expect(hedging.clock.sleeperCount(), equals: 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `Without a delay all runs begin at once`(delay: Duration) async throws {
    let hedging = Hedging(after: .fixed(delay), maximum: 3)
    let task = hedging.begin()
    _ = (try await hedging.script.next(), try await hedging.script.next())
    try await hedging.script.next().succeed(3)
    try await expect(task.value, equals: 3)
  }

  @Test func `A maximum of one hedges nothing`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 1)
    let task = hedging.begin()
    expect(hedging.clock.sleeperCount(), equals: 0)
    try await hedging.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await task.value }
    expect(hedging.script.runCount, equals: 1)
  }

  @Test func `A cancelled run cancels all its runs, and starts none`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 5)
    let task = hedging.begin()
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(first.isCancelled && second.isCancelled)
    expect(hedging.script.runCount, equals: 2)
    expect(hedging.clock.sleeperCount(), equals: 0)
  }

  @Test func `No run begins after the deadline of the context`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 5)
    var context = hedging.context
    context.operationDeadline = hedging.clock.instant + .milliseconds(150)
    let task = hedging.begin(in: context)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    second.fail(Refused())
    first.succeed(1)
    try await expect(task.value, equals: 1)
    expect(hedging.script.runCount, equals: 2)
  }

  @Test func `The run that yields first passes its yields on, and the others do not`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 3)
    let yielded = Log<Int>()
    let task = hedging.begin(
      with: OperationContinuation { result, _ in
        if let value = try? result.get() { yielded.append(value) }
      }
    )
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    let second = try await hedging.script.next()
    second.yield(20)
    first.yield(10)
    second.yield(21)
    second.fail(Refused())
    let third = try await hedging.script.next()
    third.yield(30)
    first.yield(11)
    first.succeed(1)
    try await expect(task.value, equals: 1)
    expect(yielded.all, equals: [20, 21, 30])
  }

  @Test func `Many hedged runs at once leave nothing`() async throws {
    let clock = ManualClock()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = script.query().hedged(after: .seconds(1), maximum: 3)
    var context = OperationContext()
    context.use(clock)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1000 { group.addTask { [context] in try await query.runWithoutSetup(in: context) } }
      for try await value in group { expect(value, equals: 1) }
    }
    expect(script.runCount, equals: 1000)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(0, minimumRuns: 20) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(1.1, minimumRuns: 20) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(-1, minimumRuns: 20) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(.nan, minimumRuns: 20) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(.infinity, minimumRuns: 20) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(0.5, minimumRuns: 0) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(0.5, minimumRuns: .min) }
    await #expect(processExitsWith: .failure) { _ = HedgeDelay.quantile(0.5, minimumRuns: 501) }
    await #expect(processExitsWith: .failure) { _ = Hedging(after: .fixed(.zero), maximum: 0) }
  }
}

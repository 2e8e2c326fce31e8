import FoundationEssentials
import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct HedgeSettingsTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func begin(
    _ settings: HedgeSettings,
    in context: OperationContext? = nil,
    isFatal: (@Sendable (any Error, OperationContext) -> Bool)? = nil,
    whileValue asksAgain: (@Sendable (Int, OperationContext) -> Bool)? = nil
  ) -> Task<Int, any Error> {
    let query = self.script.query().hedged(using: settings, isFatal: isFatal, whileValue: asksAgain)
    let runner = OperationRunner(operation: query, initialContext: context ?? self.context)
    return Task.immediate { try await runner.run(isolation: nil) }
  }

  // MARK: - Changes

  @Test func `A change counts for runs that begin later, of operations that exist`() async throws {
    let settings = HedgeSettings(after: .fixed(.milliseconds(100)))
    let query = self.script.query().hedged(using: settings)
    let runner = OperationRunner(operation: query, initialContext: self.context)
    let first = Task.immediate { try await runner.run(isolation: nil) }
    settings.update(after: .fixed(.milliseconds(30)), maximum: 1)
    expect(self.clock.remainingTimes(), equals: [.milliseconds(100)])
    try await self.script.next().succeed(1)
    _ = try await first.value
    let second = Task.immediate { try await runner.run(isolation: nil) }
    expect(self.clock.sleeperCount(), equals: 0)
    try await self.script.next().succeed(2)
    _ = try await second.value
    settings.update(maximum: 3)
    let third = Task.immediate { try await runner.run(isolation: nil) }
    expect(self.clock.remainingTimes(), equals: [.milliseconds(30)])
    try await self.script.next().succeed(3)
    _ = try await third.value
  }

  @Test func `Operations that share settings share the measured durations`() async throws {
    let settings = HedgeSettings(after: .quantile(1, minimumRuns: 2))
    for milliseconds in [10, 20] {
      let task = self.begin(settings)
      let run = try await self.script.next()
      self.clock.advance(by: .milliseconds(milliseconds))
      run.succeed(1)
      _ = try await task.value
    }
    let task = self.begin(settings)
    expect(self.clock.remainingTimes(), equals: [.milliseconds(20)])
    expect(settings.snapshot().currentDelay, equals: .milliseconds(20))
    try await self.script.next().succeed(1)
    _ = try await task.value
  }

  @Test(arguments: [0, -1, Int.min]) func `A maximum without a meaning is reported and counts as one`(maximum: Int) {
    let settings = expectWarning(.invalidArgument) { HedgeSettings(after: .fixed(.seconds(1)), maximum: maximum) }
    expect(settings.maximum, equals: 1)
  }

  @Test(arguments: [0, -1, Int.min]) func `An impossible update is reported, and changes nothing`(number: Int) {
    let settings = HedgeSettings(after: .fixed(.seconds(1)), maximum: 3)
    #expect(settings.update(maximum: .max))
    expectWarning(.invalidArgument) {
      #expect(!settings.update(after: .fixed(.seconds(2)), maximum: number))
    }
    expectWarning(.invalidArgument) {
      #expect(!settings.update(after: .fixed(.seconds(min(number, -1))), maximum: 2))
    }
    #expect(settings.maximum == .max && settings.delay == .fixed(.seconds(1)))
    #expect(settings.update(after: .fixed(.zero), maximum: 1))
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `A delay of zero or less starts all runs at once`(delay: Duration) async throws {
    let task = self.begin(HedgeSettings(after: .fixed(delay), maximum: 3))
    _ = (try await self.script.next(), try await self.script.next())
    try await self.script.next().succeed(3)
    try await expect(task.value, equals: 3)
  }

  @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
  func `A huge delay hedges nothing, and leaves nothing`(delay: Duration) async throws {
    let task = self.begin(HedgeSettings(after: .fixed(delay)))
    self.clock.advance(by: .seconds(1_000_000))
    try await self.script.next().succeed(1)
    try await expect(task.value, equals: 1)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Another delay and another budget are notices with what was before`() {
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let settings = HedgeSettings(after: .fixed(.zero))
    settings.update(after: .quantile(0.5), in: context)
    settings.update(budget: RetryBudget(ratio: 0.5, minimumPerSecond: 1), in: context)
    // An equal one is another budget, with deposits of its own.
    settings.update(budget: RetryBudget(ratio: 0.5, minimumPerSecond: 1), in: context)
    let (name, budget) = ("hedge.settings_changed", "0.5 for each run, and 1.0 a second")
    expect(
      notices.descriptions,
      equals: [
        "\(name) hedge.delay=.quantile(0.5) hedge.delay.previous=0 s hedge.maximum=2",
        "\(name) hedge.budget=\(budget) hedge.delay=.quantile(0.5) hedge.maximum=2",
        "\(name) hedge.budget=\(budget) hedge.budget.previous=\(budget) hedge.delay=.quantile(0.5) hedge.maximum=2",
      ]
    )
  }

  @Test func `A change is a notice, and the snapshot counts`() async throws {
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let budget = RetryBudget(name: "all", ratio: 0, minimumPerSecond: 0.1)
    let settings = HedgeSettings(name: "posts", after: .fixed(.milliseconds(100)), budget: budget)
    settings.update(maximum: 3, in: context)
    settings.update(after: .fixed(.milliseconds(100)), maximum: 3, budget: budget, in: context)
    let task = self.begin(settings, in: context)
    _ = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    let second = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    second.succeed(2)
    try await expect(task.value, equals: 2)
    expect(
      notices.descriptions,
      equals: [
        "hedge.settings_changed hedge.budget=0.0 for each run, and 0.1 a second hedge.delay=100 ms hedge.maximum=3"
          + " hedge.maximum.previous=2 hedge.name=posts",
        "hedge.started ScriptedQuery<Int, Error> hedge.index=1 hedge.name=posts",
        "hedge.over_budget ScriptedQuery<Int, Error> hedge.name=posts",
      ]
    )
    let snapshot = settings.snapshot(in: context)
    expect(
      snapshot.description,
      equals: "posts: after 100 ms, at most 3 runs; 1 runs, 1 hedges, of which 1 won, 1 refused"
    )
    #expect(snapshot.budget?.refusals == 1 && snapshot.budget?.name == "all")
    let gauges: [String: Double] = [
      "hedge.maximum": 3, "hedge.runs": 1, "hedge.hedges": 1, "hedge.wins": 1, "hedge.refusals": 1, "hedge.delay": 0.1,
    ]
    expect(snapshot.gauges, equals: gauges)
    #expect(try !JSONEncoder().encode(snapshot).isEmpty)
    expect(HedgeSettings(after: .fixed(.zero)).snapshot().name, equals: "hedge")
  }

  // MARK: - Values and failures

  @Test func `A value that does not count starts the next run at once, and a later one is used`() async throws {
    let task = self.begin(HedgeSettings(after: .fixed(.seconds(1)), maximum: 3), whileValue: { value, _ in value < 0 })
    try await self.script.next().succeed(-1)
    let second = try await self.script.next()
    expect(self.clock.remainingTimes(), equals: [.seconds(1)])
    second.succeed(2)
    try await expect(task.value, equals: 2)
    #expect(self.script.runCount == 2 && self.clock.sleeperCount() == 0)
  }

  @Test func `Without a run that is left, the last value that does not count is returned, before any failure`()
    async throws
  {
    let task = self.begin(HedgeSettings(after: .fixed(.seconds(1)), maximum: 3), whileValue: { value, _ in value < 0 })
    try await self.script.next().succeed(-1)
    try await self.script.next().succeed(-2)
    try await self.script.next().fail(Refused())
    try await expect(task.value, equals: -2)
    #expect(self.script.runCount == 3 && self.clock.sleeperCount() == 0)
  }

  @Test func `A value that does not count, of a body that never suspends, is asked about once`() async throws {
    let asked = Log<Int>()
    let script = OperationScript<Int, any Error>(default: .value(-1))
    let query = script.query().hedged(
      using: HedgeSettings(after: .fixed(.seconds(1))),
      whileValue: { value, _ in
        asked.append(value)
        return true
      }
    )
    try await expect(query.runWithoutSetup(in: self.context), equals: -1)
    #expect(asked.count == 2 && script.runCount == 2)
  }

  @Test func `A fatal failure ends all runs`() async throws {
    let task = self.begin(
      HedgeSettings(after: .fixed(.milliseconds(100)), maximum: 3),
      isFatal: { error, _ in (error as? Refused)?.code == 403 }
    )
    let first = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await self.script.next().fail(Refused(code: 403))
    await #expect(throws: Refused(code: 403)) { try await task.value }
    #expect(first.isCancelled && self.script.runCount == 2 && self.clock.sleeperCount() == 0)
  }

  @Test func `A cancelled run whose value does not count ends at once`() async throws {
    let script = OperationScript<Int, any Error>(endsOnCancellation: false)
    let query = script.query().hedged(using: HedgeSettings(after: .fixed(.seconds(1))), whileValue: { _, _ in true })
    let task = Task.immediate { [context] in try await query.runWithoutSetup(in: context) }
    let run = try await script.next()
    task.cancel()
    run.succeed(5)
    try await expect(task.value, equals: 5)
    expect(script.runCount, equals: 1)
  }
}

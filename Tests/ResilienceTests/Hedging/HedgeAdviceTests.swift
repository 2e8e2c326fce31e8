import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

/// Failures that say whether, and when, another run can succeed.
@Suite(.bounded, .warningsAreIssues) struct HedgeAdviceTests {
  /// A failure of a server that says something about other attempts.
  private struct Advice: RetryClassifying, RetryHinting, Equatable {
    var retryClassification = RetryClassification.retry
    var retryAfter: OperationDuration?
  }

  private let never = Advice(retryClassification: .never)
  private let executor = SteppedExecutor()

  /// Starts a hedged run whose tasks run when the test says so.
  private func begin(_ hedging: Hedging, in context: OperationContext? = nil) -> Task<Int, any Error> {
    var context = context ?? hedging.context
    context.operationTaskConfiguration.executorPreference = self.executor
    let runner = OperationRunner(operation: hedging.query, initialContext: context)
    let task = Task(executorPreference: self.executor) { try await runner.run(isolation: nil) }
    self.executor.runAll()
    return task
  }

  @Test func `A failure for good starts no other run`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 3)
    let task = self.begin(hedging)
    try await hedging.script.next().fail(self.never)
    self.executor.runAll()
    await #expect(throws: self.never) { try await task.value }
    #expect(hedging.script.runCount == 1 && hedging.clock.sleeperCount() == 0)
  }

  @Test func `A failure for good surfaces at once, and the other runs are cancelled`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 3)
    let task = self.begin(hedging)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    self.executor.runAll()
    try await hedging.script.next().fail(self.never)
    self.executor.runAll()
    await #expect(throws: self.never) { try await task.value }
    #expect(first.isCancelled && hedging.script.runCount == 2 && hedging.clock.sleeperCount() == 0)
  }

  @Test(arguments: [Advice(retryAfter: .seconds(2)), Advice(retryClassification: .retryAfter(.seconds(2)))])
  private func `No run begins before the time that a failure asks for`(advice: Advice) async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = self.begin(hedging)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(50))
    self.executor.runAll()
    first.fail(advice)
    self.executor.runAll()
    expect(hedging.clock.remainingTimes(), equals: [.seconds(2)])
    hedging.clock.advance(by: .milliseconds(1_999))
    self.executor.runAll()
    expect(hedging.script.runCount, equals: 1)
    hedging.clock.advance(by: .milliseconds(1))
    self.executor.runAll()
    try await hedging.script.next().succeed(2)
    self.executor.runAll()
    try await expect(task.value, equals: 2)
    expect(hedging.clock.sleeperCount(), equals: 0)
  }

  @Test func `The run after that begins no earlier either, and a run under way can win meanwhile`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 4)
    let task = self.begin(hedging)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    self.executor.runAll()
    let second = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    self.executor.runAll()
    let third = try await hedging.script.next()
    second.fail(Advice(retryAfter: .seconds(2)))
    self.executor.runAll()
    expect(hedging.clock.remainingTimes(), equals: [.seconds(2)])
    hedging.clock.advance(by: .seconds(1))
    self.executor.runAll()
    third.fail(Refused())
    self.executor.runAll()
    expect(hedging.clock.remainingTimes(), equals: [.seconds(1)])
    hedging.clock.advance(by: .milliseconds(999))
    self.executor.runAll()
    expect(hedging.script.runCount, equals: 3)
    first.succeed(1)
    self.executor.runAll()
    try await expect(task.value, equals: 1)
    #expect(hedging.script.runCount == 3 && hedging.clock.sleeperCount() == 0)
  }

  @Test func `Where the deadline is nearer than the hint, the failure surfaces at once`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    var context = hedging.context
    context.operationDeadline = hedging.clock.instant + .seconds(2)
    let task = self.begin(hedging, in: context)
    let advice = Advice(retryAfter: .seconds(2))
    try await hedging.script.next().fail(advice)
    self.executor.runAll()
    await #expect(throws: advice) { try await task.value }
    #expect(hedging.script.runCount == 1 && hedging.clock.sleeperCount() == 0)
  }

  @Test func `A caller that is cancelled while a run is put off leaves at once`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = self.begin(hedging)
    try await hedging.script.next().fail(Advice(retryAfter: .seconds(2)))
    self.executor.runAll()
    expect(hedging.clock.remainingTimes(), equals: [.seconds(2)])
    task.cancel()
    self.executor.runAll()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(hedging.script.runCount == 1 && hedging.clock.sleeperCount() == 0)
  }

  @Test(arguments: [
    (OperationDuration.seconds(3600), OperationDuration.seconds(60)), (.seconds(-3600), .zero),
    (Duration(attoseconds: .max), .seconds(60)),
  ])
  func `A hint is clamped`(hint: OperationDuration, wait: OperationDuration) async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = self.begin(hedging)
    try await hedging.script.next().fail(Advice(retryAfter: hint))
    self.executor.runAll()
    if wait > .zero {
      expect(hedging.clock.remainingTimes(), equals: [wait])
      hedging.clock.advance(by: wait)
      self.executor.runAll()
    }
    try await hedging.script.next().succeed(2)
    self.executor.runAll()
    try await expect(task.value, equals: 2)
    expect(hedging.clock.elapsed, equals: wait)
  }
}

import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct DeadlineTests {
  private let clock = ManualClock()

  @Test func `Another attempt after the time can succeed`() {
    expect(OperationTimedOut(after: .seconds(1)).retryClassification, equals: .retry)
  }

  @Test func `A run ends at its deadline, and the operation knows it`() async throws {
    let script = IntScript()
    let deadline = self.clock.instant + .seconds(10)
    self.clock.advance(by: .seconds(4))
    let task = script.operation().deadline(deadline).begin(on: self.clock)
    let run = try await script.next()
    expect(run.context.operationDeadline, equals: deadline)
    expect(run.context.operationTimeRemaining, equals: .seconds(6))
    try await self.clock.sleepers(count: 1)
    expect(self.clock.remainingTimes(), equals: [.seconds(6)])
    self.clock.advance(by: .seconds(6))
    await #expect(throws: OperationTimedOut(after: .seconds(6))) { try await task.value }
    try await script.noActiveRuns()
  }

  @Test func `A run that would begin after the deadline is not begun`() async {
    let script = IntScript(default: .value(1))
    let deadline = self.clock.instant + .seconds(10)
    self.clock.advance(by: .seconds(10))
    let operation = script.operation().deadline(deadline)
    await #expect(throws: OperationTimedOut(after: .zero)) { try await operation.run(on: self.clock) }
    expect(script.runCount, equals: 0)
  }

  @Test(arguments: [true, false])
  func `Of nested deadlines the earlier one applies`(isOuterEarlier: Bool) async throws {
    let script = IntScript()
    let early = self.clock.instant + .seconds(5)
    let late = self.clock.instant + .seconds(50)
    let operation = script.operation().deadline(isOuterEarlier ? late : early).deadline(isOuterEarlier ? early : late)
    let task = operation.begin(on: self.clock)
    let run = try await script.next()
    expect(run.context.operationDeadline, equals: early)
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .seconds(5))
    await #expect(throws: OperationTimedOut(after: .seconds(5))) { try await task.value }
    expect(self.clock.sleeperCount(), equals: 0)
    try await script.noActiveRuns()
  }

  @Test func `A deadline in the context of a call applies if it is earlier`() async throws {
    let script = IntScript()
    let store = OperationStore.detached(
      query: script.query().deadline(self.clock.instant + .seconds(50)).manualTime(self.clock)
    )
    var context = OperationContext()
    context.operationDeadline = self.clock.instant + .seconds(5)
    let task = Task.immediate { [context] in try await store.fetch(using: context) }
    _ = try await script.next()
    try await self.clock.sleepers(count: 1)
    expect(self.clock.remainingTimes(), equals: [.seconds(5)])
    self.clock.advance(by: .seconds(5))
    await #expect(throws: OperationTimedOut(after: .seconds(5))) { try await task.value }
    try await script.noActiveRuns()
  }

  @Test func `The error of a later attempt gives the limit that was asked for`() async throws {
    let script = IntScript()
    let (first, second) = (ManualClock(), ManualClock())
    for (clock, operation) in [
      (first, AnyOperation(script.operation().deadline(first.instant + .seconds(1)))),
      (second, AnyOperation(script.operation().deadline(after: .seconds(1)))),
    ] {
      let task = AgainLater(operation: operation).begin(on: clock)
      let run = try await script.next()
      try await clock.sleepers(count: 1)
      clock.advance(by: .milliseconds(400))
      run.fail(NarrowFailure.refused)
      _ = try await script.next()
      try await clock.sleepers(count: 1)
      expect(clock.remainingTimes(), equals: [.milliseconds(600)])
      clock.advance(by: .milliseconds(600))
      await #expect(throws: OperationTimedOut(after: .seconds(1))) { try await task.value }
      try await script.noActiveRuns()
    }
  }

  @Test func `A relative deadline begins with each run`() async throws {
    let script = IntScript()
    let operation = script.operation().deadline(after: .seconds(10))
    for _ in 1...2 {
      let task = operation.begin(on: self.clock)
      let run = try await script.next()
      expect(run.context.operationTimeRemaining, equals: .seconds(10))
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(10))
      await #expect(throws: OperationTimedOut(after: .seconds(10))) { try await task.value }
      try await script.noActiveRuns()
    }
  }

  @Test func `A timeout limits the attempt, and leaves the deadline alone`() async throws {
    let script = IntScript()
    let task = script.operation().timeout(.seconds(2)).deadline(after: .seconds(10)).begin(on: self.clock)
    let run = try await script.next()
    expect(run.context.operationTimeRemaining, equals: .seconds(10))
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut(after: .seconds(2))) { try await task.value }
    expect(self.clock.sleeperCount(), equals: 0)
    try await script.noActiveRuns()
  }

  @Test func `Deadlines far away and long ago work`() async throws {
    let script = IntScript(default: .value(1))
    let far = script.operation().deadline(self.clock.instant.advanced(by: .seconds(Int64.max)))
    try await expect(far.run(on: self.clock), equals: 1)
    let relative = script.operation().deadline(after: Duration(attoseconds: .max))
    try await expect(relative.run(on: self.clock), equals: 1)
    let past = script.operation().deadline(self.clock.instant.advanced(by: .seconds(Int64.min)))
    await #expect(throws: OperationTimedOut(after: .zero)) { try await past.run(on: self.clock) }
  }

  @Test func `A narrow failure is mapped`() async {
    let script = OperationScript<Int, NarrowFailure>(default: .value(1))
    let operation = script.operation().deadline(self.clock.instant) { .slow($0.duration) }
    await #expect(throws: NarrowFailure.slow(.zero)) { try await operation.run(on: self.clock) }
    let relative = script.operation().deadline(after: .zero) { .slow($0.duration) }
    await #expect(throws: NarrowFailure.slow(.zero)) { try await relative.run(on: self.clock) }
  }

  @Test func `A deadline on the system's clock ends a run`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let operation = script.operation().deadline(.now + .milliseconds(20))
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    let run = try await script.next()
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    run.succeed(1)
    try await script.noActiveRuns()
  }
}

/// Runs an operation again after its first failure, without a retry.
private struct AgainLater: OperationRequest, Sendable {
  let operation: AnyOperation<Int, any Error>

  func setup(context: inout OperationContext) {
    self.operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    do {
      return try await self.operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return try await self.operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}

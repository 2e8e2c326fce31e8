import OperationCore
import OperationHedging
import OperationLimits
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Hedges inside of a limit: each of their runs needs a permit.
@Suite(.bounded, .warningsAreIssues) struct HedgesInsideTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  private var hedged: ModifiedOperation<ScriptedQuery<Int, any Error>, Hedge<ScriptedQuery<Int, any Error>>> {
    self.script.query().hedged(after: .milliseconds(100))
  }

  private func run<Operation: OperationRequest<Int, any Error>>(
    _ operation: sending Operation,
    _ refusal: Refusal? = nil
  ) -> Task<Int, any Error> where Operation: Sendable {
    var context = OperationContext()
    context.use(self.clock)
    if let refusal { context.operationNoticeObservers = [refusal] }
    let runner = OperationRunner(operation: operation, initialContext: context)
    return Task.immediate { try await runner.run(isolation: nil) }
  }

  @Test func `A second run has a permit of its own, and gives it back`() async throws {
    let limit = ConcurrencyLimit(2)
    let task = self.run(self.hedged.limited(by: limit))
    _ = try await self.script.next()
    expect(limit.activeCount, equals: 1)
    self.clock.advance(by: .milliseconds(100))
    let second = try await self.script.next()
    expect(limit.activeCount, equals: 2)
    second.succeed(2)
    try await expect(task.value, equals: 2)
    expect(limit.activeCount, equals: 0)
  }

  @Test func `No second run begins beside the first while no permit is free`() async throws {
    let (limit, refusal) = (ConcurrencyLimit(1), Refusal(.hedgeNotAdmitted))
    let task = self.run(self.hedged.limited(by: limit), refusal)
    let first = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await refusal.sent.wait()
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
    // The place of the first run is free when it has failed.
    first.fail(Refused())
    let second = try await self.script.next()
    expect(limit.activeCount, equals: 1)
    second.succeed(2)
    try await expect(task.value, equals: 2)
    expect(limit.activeCount, equals: 0)
  }

  @Test func `No second run begins beside a body that a timeout has left behind`() async throws {
    let (limit, gate, began, runs) = (ConcurrencyLimit(1), Gate(), Gate(), Counter())
    let body = QueryOperation<Int, any Error>("stubborn") { _ in
      guard runs.increment() == 1 else { return 2 }
      began.open()
      try await Task { try await gate.wait() }.value
      return 1
    }
    let operation = body.timeout(.seconds(1)).hedged(after: .seconds(10)).limited(by: limit)
    let task = self.run(operation)
    try await began.wait()
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut(after: .seconds(1))) { try await task.value }
    #expect(runs.value == 1 && limit.activeCount == 1)
    let later = self.run(operation)
    expect(limit.waitingCount, equals: 1)
    gate.open()
    try await expect(later.value, equals: 2)
    expect(limit.activeCount, equals: 0)
  }

  @Test func `A run beside such a body has a permit of its own`() async throws {
    let (limit, gate, began, runs) = (ConcurrencyLimit(2), Gate(), Gate(), Counter())
    let body = QueryOperation<Int, any Error>("stubborn") { _ in
      guard runs.increment() == 1 else { return 2 }
      began.open()
      try await Task { try await gate.wait() }.value
      return 1
    }
    let task = self.run(body.timeout(.seconds(1)).hedged(after: .seconds(10)).limited(by: limit))
    try await began.wait()
    self.clock.advance(by: .seconds(1))
    try await expect(task.value, equals: 2)
    // The body of the first run goes on.
    expect(limit.activeCount, equals: 1)
    gate.open()
    try await limit.whenFree()
  }

  @Test func `A second run needs a permit of each limit around, or takes none`() async throws {
    let (outer, inner, refusal) = (ConcurrencyLimit(2), ConcurrencyLimit(1), Refusal(.hedgeNotAdmitted))
    let task = self.run(self.hedged.limited(by: inner).limited(by: outer), refusal)
    let first = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await refusal.sent.wait()
    #expect(self.script.runCount == 1 && outer.activeCount == 1 && inner.activeCount == 1)
    inner.update(permits: 2)
    first.fail(Refused())
    try await self.script.next().succeed(2)
    try await expect(task.value, equals: 2)
    #expect(outer.activeCount == 0 && inner.activeCount == 0)
  }

  @Test func `A rate limit counts the second run, which has begun`() async throws {
    let (limit, refusal) = (RateLimit(1, per: .seconds(60)), Refusal(.hedgeNotAdmitted))
    let task = self.run(self.hedged.limited(by: limit), refusal)
    let first = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await refusal.sent.wait()
    expect(self.script.runCount, equals: 1)
    first.succeed(1)
    try await expect(task.value, equals: 1)
  }

  @Test func `A second run that its budget does not allow takes no permit`() async throws {
    let (limit, refusal) = (ConcurrencyLimit(2), Refusal(.hedgeOverBudget))
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 0)
    let hedged = self.script.query().hedged(after: .milliseconds(100), budget: budget)
    let task = self.run(hedged.limited(by: limit), refusal)
    let first = try await self.script.next()
    self.clock.advance(by: .milliseconds(100))
    try await refusal.sent.wait()
    #expect(self.script.runCount == 1 && limit.activeCount == 1)
    first.succeed(1)
    try await expect(task.value, equals: 1)
    expect(limit.activeCount, equals: 0)
  }
}

/// Opens a gate when a hedge says that it does not begin another run.
private final class Refusal: OperationNoticeObserver {
  let sent = Gate()
  private let name: OperationNotice.Name

  init(_ name: OperationNotice.Name) {
    self.name = name
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    if notice.name == self.name { self.sent.open() }
  }
}

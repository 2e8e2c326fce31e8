import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ConcurrencyLimitTests {
  @Test func `Runs up to the limit begin at once`() async throws {
    let limiting = Limiting(ConcurrencyLimit(3))
    let tasks = (0..<3).map { _ in limiting.begin() }
    expect(limiting.script.runCount, equals: 3)
    expect(limiting.limit.activeCount, equals: 3)
    for _ in tasks { try await limiting.script.next().succeed(1) }
    for task in tasks { try await expect(task.value, equals: 1) }
    expect(limiting.limit.activeCount, equals: 0)
  }

  @Test func `Runs beyond the limit begin in the order in which they came, whatever their priorities`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1))
    let first = limiting.begin()
    let (background, high) = (limiting.begin(priority: .background), limiting.begin(priority: .high))
    expect(limiting.limit.waitingCount, equals: 2)
    try await limiting.script.next().succeed(1)
    try await expect(first.value, equals: 1)
    try await limiting.script.next().succeed(2)
    try await expect(background.value, equals: 2)
    try await limiting.script.next().succeed(3)
    try await expect(high.value, equals: 3)
  }

  @Test func `A permit comes back after a failure, and after a cancellation`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1))
    let failing = limiting.begin()
    try await limiting.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await failing.value }
    let cancelled = limiting.begin()
    _ = try await limiting.script.next()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    expect(limiting.limit.activeCount, equals: 0)
  }

  @Test func `A run that finds the queue full is rejected at once`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1, queue: 1))
    let tasks = [limiting.begin(), limiting.begin()]
    await limiting.expectRejection(nil)
    // The waiting one first: it would begin when the other one ends.
    for task in tasks.reversed() {
      task.cancel()
      _ = await task.result
    }
    expect(limiting.script.runCount, equals: 1)
  }

  @Test func `A run that may not wait is rejected at once`() async throws {
    for wait in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
      let limiting = Limiting(ConcurrencyLimit(1), maximumWait: wait)
      let first = limiting.begin()
      await limiting.expectRejection(nil)
      try await limiting.script.next().succeed(1)
      _ = try await first.value
      expect(limiting.clock.sleeperCount(), equals: 0)
    }
  }

  @Test func `A run waits up to its longest wait, with one timer for all`() async throws {
    var limiting = Limiting(ConcurrencyLimit(1))
    let first = limiting.begin()
    limiting.maximumWait = .seconds(5)
    let second = limiting.begin()
    limiting.clock.advance(by: .seconds(1))
    limiting.maximumWait = .seconds(2)
    let third = limiting.begin()
    limiting.maximumWait = .seconds(Int64.max)
    let others = (0..<100).map { _ in limiting.begin() }
    expect(limiting.clock.remainingTimes().sorted().first, equals: .seconds(2))
    #expect(limiting.clock.sleeperCount() <= 2)
    limiting.clock.advance(by: .seconds(2))
    await #expect(throws: OperationRejected(retryAfter: nil)) { try await third.value }
    expect(limiting.limit.waitingCount, equals: 101)
    limiting.clock.advance(by: .seconds(2))
    await #expect(throws: OperationRejected(retryAfter: nil)) { try await second.value }
    try await limiting.script.next().succeed(1)
    _ = try await first.value
    for task in others { task.cancel() }
    for task in others { _ = await task.result }
    expect(limiting.limit.activeCount, equals: 0)
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run that begins in time leaves no timer`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1), maximumWait: .seconds(5))
    let (first, second) = (limiting.begin(), limiting.begin())
    expect(limiting.clock.sleeperCount(), equals: 1)
    try await limiting.script.next().succeed(1)
    try await limiting.script.next().succeed(2)
    _ = try await (first.value, second.value)
    expect(limiting.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run does not wait past the deadline of its context`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1), maximumWait: .seconds(60))
    let first = limiting.begin()
    let second = limiting.begin(deadline: .seconds(3))
    limiting.clock.advance(by: .seconds(3))
    await #expect(throws: OperationRejected.self) { try await second.value }
    let late = limiting.begin(deadline: .zero)
    await #expect(throws: OperationRejected.self) { try await late.value }
    first.cancel()
    _ = await first.result
  }

  @Test func `A run that is cancelled while it waits ends at once and takes no permit`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1))
    let first = limiting.begin()
    let (second, third) = (limiting.begin(), limiting.begin())
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(limiting.limit.waitingCount, equals: 1)
    try await limiting.script.next().succeed(1)
    try await limiting.script.next().succeed(3)
    try await expect(first.value, equals: 1)
    try await expect(third.value, equals: 3)
    expect(limiting.script.runCount, equals: 2)
  }

  @Test func `A run of a cancelled task does not wait`() async throws {
    let limiting = Limiting(ConcurrencyLimit(1))
    let first = limiting.begin()
    let operation = limiting.script.operation().limited(by: limiting.limit)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.runWithoutSetup()
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    expect(limiting.limit.waitingCount, equals: 0)
    first.cancel()
    _ = await first.result
  }

  @Test func `Ten thousand runs wait without a timer each, and all end`() async throws {
    let limit = ConcurrencyLimit(1)
    let gate = Gate()
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let operation = GatedOperation(gate: gate).limited(by: limit, maximumWait: .seconds(60))
    let tasks = (0...10_000).map { _ in Task.immediate { [context] in try await operation.runWithoutSetup(in: context) }
    }
    expect(limit.waitingCount, equals: 10_000)
    expect(clock.sleeperCount(), equals: 1)
    gate.open()
    for task in tasks { try await task.value }
    expect(limit.activeCount, equals: 0)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `A limit is released after its waiters have left`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let limiting = Limiting(ConcurrencyLimit(1), maximumWait: .seconds(1))
      let operation = TokenOperation(token: lifetimes.token()).limited(by: limiting.limit, maximumWait: .seconds(1))
      let first = limiting.begin()
      let second = Task.immediate { [context = limiting.context] in try await operation.runWithoutSetup(in: context) }
      limiting.clock.advance(by: .seconds(1))
      await #expect(throws: OperationRejected.self) { try await second.value }
      first.cancel()
      _ = await first.result
    }
    try await lifetimes.noneAlive()
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = ConcurrencyLimit(0) }
    await #expect(processExitsWith: .failure) { _ = ConcurrencyLimit(1, queue: -1) }
  }
}

private struct GatedOperation: OperationRequest, Sendable {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.gate.wait()
  }
}

private struct TokenOperation: OperationRequest, Sendable {
  let token: LifetimeTracker.Token

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    self.token.touch()
  }
}

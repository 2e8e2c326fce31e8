import OperationBackoff
import OperationCore
import OperationLimits
import OperationRetry
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Bodies that go on after a timeout inside of the limit has ended their runs.
@Suite(.bounded, .warningsAreIssues) struct LeftWorkTests {
  private let clock = ManualClock()
  private let began = Gate()
  private let gate = Gate()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  /// An operation whose first run goes on until the gate opens, without regard to its cancellation. Others return at once.
  private func stubborn() -> Work<Int, any Error> {
    let counter = Counter()
    return Work { [began, gate] _, _ in
      guard counter.increment() == 1 else { return 2 }
      began.open()
      // A task of its own knows nothing of the cancellation.
      try await Task { try await gate.wait() }.value
      return 1
    }
  }

  private func run<Operation: OperationRequest<Int, any Error>>(_ operation: sending Operation) -> Task<Int, any Error>
  where Operation: Sendable {
    let runner = OperationRunner(operation: operation, initialContext: self.context)
    return Task.immediate { try await runner.run(isolation: nil) }
  }

  @Test func `A body that goes on after its timeout keeps its permit until it ends`() async throws {
    let limit = ConcurrencyLimit(1)
    let operation = self.stubborn().timeout(.seconds(1)).limited(by: limit)
    let first = self.run(operation)
    try await self.began.wait()
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut(after: .seconds(1))) { try await first.value }
    expect(limit.activeCount, equals: 1)
    let second = self.run(operation)
    expect(limit.waitingCount, equals: 1)
    self.gate.open()
    try await expect(second.value, equals: 2)
    expect(limit.activeCount, equals: 0)
  }

  @Test func `A body that heeds its cancellation gives its permit back with its run`() async throws {
    let script = OperationScript<Int, any Error>()
    let limit = ConcurrencyLimit(1)
    let run = self.run(script.operation().timeout(.seconds(1)).limited(by: limit))
    _ = try await script.next()
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut.self) { try await run.value }
    try await limit.whenFree()
  }

  @Test func `A body whose caller is cancelled keeps its permit until it ends`() async throws {
    let limit = ConcurrencyLimit(1)
    let run = self.run(self.stubborn().timeout(.seconds(1)).limited(by: limit))
    try await self.began.wait()
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    expect(limit.activeCount, equals: 1)
    self.gate.open()
    try await limit.whenFree()
  }

  @Test func `Each body holds one permit, whatever its other attempts do`() async throws {
    let (limit, outer) = (ConcurrencyLimit(2), ConcurrencyLimit(1))
    let operation = self.stubborn().timeout(.seconds(1)).limited(by: limit).retry(limit: 1).backoff(.noBackoff)
      .limited(by: outer)
    let run = self.run(operation)
    try await self.began.wait()
    self.clock.advance(by: .seconds(1))
    // The second attempt has succeeded, and the body of the first one goes on.
    try await expect(run.value, equals: 2)
    expect(limit.activeCount, equals: 1)
    expect(outer.activeCount, equals: 1)
    self.gate.open()
    try await outer.whenFree()
    try await limit.whenFree()
  }

  @Test func `A limit of how many runs begin counts no body that goes on`() async throws {
    let limit = AdaptiveThrottle()
    let run = self.run(self.stubborn().timeout(.seconds(1)).limited(by: limit))
    try await self.began.wait()
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut.self) { try await run.value }
    #expect(!AdaptiveThrottle.countsWork && !RateLimit.countsWork)
    self.gate.open()
  }

  @Test func `The body of a store's run keeps its permit, too`() async throws {
    let limit = ConcurrencyLimit(1)
    let (began, gate) = (self.began, self.gate)
    let client = OperationClient(defaultContext: self.context)
    let query = QueryOperation<Int, any Error>("stubborn") { _ in
      began.open()
      try await Task { try await gate.wait() }.value
      return 1
    }
    let store = client.store(for: query.timeout(.seconds(1)).limited(by: limit))
    let fetch = Task.immediate { try await store.fetch() }
    try await self.began.wait()
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut.self) { try await fetch.value }
    expect(limit.activeCount, equals: 1)
    self.gate.open()
    try await limit.whenFree()
  }
}

extension ConcurrencyLimit {
  /// Waits for a permit, so for the end of what is under way.
  func whenFree() async throws {
    let context = OperationContext()
    if self.takePermit(in: context) == nil { try await self.waitForPermit(in: context, maximumWait: nil) }
    self.returnPermit((), after: .unused, in: context)
  }
}

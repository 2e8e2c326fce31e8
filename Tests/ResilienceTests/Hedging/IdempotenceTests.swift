import OperationCore
import OperationHedging
import OperationMutation
import OperationPagination
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct IdempotenceTests {
  @Test func `A hedge keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.hedged(after: .seconds(60), maximum: 2) }
    try await checkModifier { $0.idempotent() }
  }

  @Test func `A hedged query is a query, with and without idempotent()`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    try await expect(OperationStore.detached(query: script.query().hedged(after: .seconds(1))).fetch(), equals: 4)
    let stated = script.query().idempotent().retry(limit: 1).hedged(after: .quantile(0.9))
    try await expect(OperationStore.detached(query: stated).fetch(), equals: 4)
    expect(stated.path, equals: script.query().path)
    expect(stated.operationName, equals: script.query().operationName)
  }

  @Test func `An idempotent operation with other modifiers can be hedged`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let operation = script.operation().idempotent().retry(limit: 1).hedged(after: .seconds(1), maximum: 2)
    try await expect(operation.runWithoutSetup(), equals: 4)
  }

  @Test func `A typed failure stays what it is`() async throws {
    let script = OperationScript<Int, Refused>(default: .error(Refused(code: 3)))
    let operation = script.operation().idempotent().hedged(after: .seconds(1), maximum: 3)
    do throws(Refused) {
      try await operation.runWithoutSetup()
      Issue.record("the operation succeeded")
    } catch {
      expect(error.code, equals: 3)
    }
    expect(script.runCount, equals: 3)
  }

  @Test func `A hedged mutation is a mutation`() async throws {
    let store = OperationStore.detached(mutation: Doubling().idempotent().hedged(after: .seconds(1)))
    try await expect(store.mutate(with: 21), equals: 42)
  }

  @Test func `A retry inside of idempotent() is found by a retry outside of it`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let operation = script.operation().retry(limit: 2).idempotent().retry(limit: 5)
    await #expect(throws: Refused.self) { try await operation.runWithoutSetup(in: .withoutDelays) }
    expect(script.runCount, equals: 3)
  }

  @Test func `A budget bounds the runs besides the first`() async throws {
    let budget = RetryBudget(ratio: 0.5, minimumPerSecond: 0)
    let hedging = Hedging(after: .fixed(.milliseconds(100)), budget: budget)
    // Each run deposits a half.
    try await hedging.run(for: .zero)
    let hedged = hedging.begin()
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    try await hedging.script.next().succeed(2)
    try await expect(hedged.value, equals: 2)
    #expect(first.isCancelled)
    let refused = hedging.begin()
    let only = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    only.fail(Refused(code: 9))
    await #expect(throws: Refused(code: 9)) { try await refused.value }
    expect(hedging.script.runCount, equals: 4)
  }

  @Test func `Observers are notified of hedges`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let notices = NoticeLog()
    var context = hedging.context
    context.operationNoticeObservers = [notices]
    let task = hedging.begin(in: context)
    _ = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    try await hedging.script.next().succeed(2)
    _ = try await task.value
    expect(notices.descriptions, equals: ["hedge.started ScriptedQuery<Int, Error> hedge.index=1"])
  }
}

private struct Doubling: MutationRequest {
  var path: OperationPath { ["doubling"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { arguments * 2 }
}

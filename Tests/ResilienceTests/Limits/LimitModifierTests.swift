import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct LimitModifierTests {
  @Test func `Limits keep the rules of modifiers`() async throws {
    try await checkModifier { $0.limited(by: ConcurrencyLimit(10)) }
    try await checkModifier { $0.limited(by: RateLimit(10, per: .seconds(1))) }
    try await checkModifier { $0.limited(by: AdaptiveLimit(minimum: 10, maximum: 20)) }
    try await checkModifier { $0.limited(by: PartitionedLimit(10) { _ in "tenant" }) }
    // A rejection by chance would be a broken rule.
    try await checkModifier { $0.limited(by: AdaptiveThrottle(random: { 1 })) }
    try await checkModifier { $0.limited(by: ConcurrencyLimit(10)).criticality(.sheddable) }
  }

  @Test func `A limited query is a query, and its state shows the rejection`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let limit = RateLimit(1, per: .seconds(60))
    let clock = ManualClock()
    let query = script.query().limited(by: limit, maximumWait: .zero).manualTime(clock)
    let store = OperationStore.detached(query: query)
    try await expect(store.fetch(), equals: 4)
    await #expect(throws: OperationRejected(retryAfter: .seconds(60))) { try await store.fetch() }
    expect(store.currentValue, equals: 4)
    #expect(store.error is OperationRejected)
  }

  @Test func `A store's run that is cancelled while it waits leaves the state as it was`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let limit = ConcurrencyLimit(1)
    _ = limit.takePermit(in: OperationContext())
    let store = OperationStore.detached(query: script.query().limited(by: limit))
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isLoading)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    #expect(store.error == nil)
    #expect(!store.isLoading)
    expect(script.runCount, equals: 0)
  }

  @Test func `An operation with a failure of its own maps the rejection`() async throws {
    enum Refusal: Error, Equatable {
      case rejected(Duration?)
    }
    let script = OperationScript<Int, Refusal>(default: .value(1))
    let limit = RateLimit(1, per: .seconds(60))
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let operation = script.operation().limited(by: limit, maximumWait: .seconds(10)) { .rejected($0.retryAfter) }
    try await expect(operation.runWithoutSetup(in: context), equals: 1)
    await #expect(throws: Refusal.rejected(.seconds(60))) { try await operation.runWithoutSetup(in: context) }
    // The failure type has no better error for a run that is cancelled while it waits.
    let patient = script.operation().limited(by: limit) { .rejected($0.retryAfter) }
    let waiting = Task.immediate { [context] in
      do throws(Refusal) {
        return Result<Int, Refusal>.success(try await patient.runWithoutSetup(in: context))
      } catch {
        return .failure(error)
      }
    }
    waiting.cancel()
    await expect(waiting.value, equals: .failure(.rejected(nil)))
    expect(limit.waitingCount, equals: 0)
  }

  @Test func `Observers are notified of rejections`() async throws {
    let notices = NoticeLog()
    let limit = RateLimit(1, per: .seconds(60))
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    context.operationNoticeObservers = [notices]
    let script = OperationScript<Int, any Error>(default: .value(1))
    let operation = script.operation().limited(by: limit, maximumWait: .zero)
    try await operation.runWithoutSetup(in: context)
    await #expect(throws: OperationRejected.self) { try await operation.runWithoutSetup(in: context) }
    expect(notices.descriptions, equals: ["limit.rejected ScriptedOperation<Int, Error> limit.retry_after=1 min"])
  }

  @Test func `A custom limit admits runs`() async throws {
    let limit = OddLimit()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let operation = script.operation().limited(by: limit)
    try await expect(operation.runWithoutSetup(), equals: 1)
    await #expect(throws: OperationRejected(retryAfter: .seconds(1))) { try await operation.runWithoutSetup() }
    try await expect(operation.runWithoutSetup(), equals: 1)
    expect(limit.returned.withLock { $0 }, equals: [1, 3])
  }
}

/// Admits every other run.
private final class OddLimit: OperationLimit {
  let asked = Mutex(0)
  let returned = Mutex<[Int]>([])

  func takePermit(in context: OperationContext) -> Int? {
    let number = self.asked.withLock { asked in
      asked += 1
      return asked
    }
    return number % 2 == 1 ? number : nil
  }

  nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Int {
    throw OperationRejected(retryAfter: .seconds(1))
  }

  func returnPermit(_ permit: Int, after use: OperationPermitUse, in context: OperationContext) {
    self.returned.withLock { $0.append(permit) }
  }
}

import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct BreakerModifierTests {
  @Test func `A breaker keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.circuitBreaker(CircuitBreaker()) }
    try await checkModifier {
      $0.circuitBreaker(CircuitBreaker(slowAfter: .seconds(1)), failingOn: .where { _ in false })
    }
    try await checkModifier { $0.circuitBreaker(CircuitBreakers()) { _, _ in "host" } }
  }

  @Test func `A query behind a breaker is a query`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let breaker = CircuitBreaker()
    let store = OperationStore.detached(query: script.query().circuitBreaker(breaker))
    try await expect(store.fetch(), equals: 4)
    breaker.isolate()
    await #expect(throws: CircuitOpen(retryAfter: nil)) { try await store.fetch() }
    expect(store.currentValue, equals: 4)
    #expect(store.error is CircuitOpen)
  }

  @Test func `An operation with a failure of its own maps the rejection`() async throws {
    enum Refusal: Error, Equatable {
      case body
      case open(CircuitOpen)
    }
    let script = OperationScript<Int, Refusal>(default: .error(.body))
    let breaker = CircuitBreaker(minimumRuns: 1)
    let operation = script.operation().circuitBreaker(breaker, else: Refusal.open)
    await #expect(throws: Refusal.body) { try await operation.runWithoutSetup() }
    breaker.isolate()
    do throws(Refusal) {
      try await operation.runWithoutSetup()
      Issue.record("an isolated breaker admitted a run")
    } catch {
      expect(error, equals: .open(CircuitOpen(retryAfter: nil)))
    }
  }

  @Test func `A run stays on the actor of its caller`() async throws {
    let operation = MainActorWork { _ in 1 }.circuitBreaker(CircuitBreaker())
    try await Task { @MainActor in _ = try await OperationRunner(operation: operation).run() }.value
  }

  @Test func `Operations share a breaker`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 2)
    let failing = OperationScript<Int, any Error>(default: .error(Refused()))
    let other = OperationScript<String, any Error>(default: .value("here"))
    for _ in 0..<2 { _ = try? await failing.operation().circuitBreaker(breaker).runWithoutSetup() }
    await #expect(throws: CircuitOpen.self) { try await other.operation().circuitBreaker(breaker).runWithoutSetup() }
    expect(other.runCount, equals: 0)
  }
}

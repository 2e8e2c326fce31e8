import Foundation
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import Synchronization
import Testing

@Suite(.warningsAreIssues) struct ModifierTests {
  @Test func `A breaker keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.circuitBreaker(CircuitBreaker()) }
  }

  @Test func `A query behind a breaker is a query`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let breaker = CircuitBreaker()
    let store = OperationStore.detached(query: script.query().circuitBreaker(breaker))
    #expect(try await store.fetch() == 4)
    breaker.isolate()
    await #expect(throws: CircuitOpen(retryAfter: nil)) { try await store.fetch() }
    #expect(store.currentValue == 4)
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
    await #expect(throws: Refusal.body) { try await operation.runBare() }
    breaker.isolate()
    do throws(Refusal) {
      try await operation.runBare()
      Issue.record("an isolated breaker admitted a run")
    } catch {
      #expect(error == .open(CircuitOpen(retryAfter: nil)))
    }
  }

  @Test func `A run stays on the actor of its caller`() async throws {
    let operation = OnMainActor().circuitBreaker(CircuitBreaker())
    try await Task { @MainActor in _ = try await OperationRunner(operation: operation).run() }.value
  }

  @Test func `Operations share a breaker`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 2)
    let failing = OperationScript<Int, any Error>(default: .error(Failed()))
    let other = OperationScript<String, any Error>(default: .value("here"))
    for _ in 0..<2 { _ = try? await failing.operation().circuitBreaker(breaker).runBare() }
    await #expect(throws: CircuitOpen.self) { try await other.operation().circuitBreaker(breaker).runBare() }
    #expect(other.runCount == 0)
  }
}

private struct OnMainActor: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    MainActor.preconditionIsolated()
    return 1
  }
}

@Suite(.warningsAreIssues) struct NoticeTests {
  @Test func `Observers hear of trips, probes and rejections`() async throws {
    let circuit = Circuit(CircuitBreaker(name: "posts", minimumRuns: 1))
    let notices = Notices()
    var context = circuit.context
    context.operationNoticeObservers = [notices]
    let runner = OperationRunner(
      operation: circuit.script.operation().circuitBreaker(circuit.breaker),
      initialContext: context
    )
    circuit.script.enqueue(.error(Failed()), .value(1))
    let until = circuit.clock.now().timeIntervalSince1970 + 5
    await #expect(throws: Failed.self) { try await runner.run() }
    await #expect(throws: CircuitOpen.self) { try await runner.run() }
    circuit.clock.advance(by: .seconds(5))
    try await runner.run()
    #expect(
      notices.all == [
        "circuit.opened circuit.name=posts circuit.open_until=\(until)",
        "circuit.rejected ScriptedOperation<Int, Error> circuit.name=posts circuit.retry_after=5.0 seconds",
        "circuit.half_opened circuit.name=posts",
        "circuit.closed circuit.name=posts",
      ]
    )
    #expect(circuit.breaker.snapshot.description == "posts: closed, 0 of 0 runs failed, 1 trips, 1 rejections")
  }
}

private final class Notices: OperationNoticeObserver {
  private let state = Mutex<[String]>([])

  var all: [String] { self.state.withLock { $0 } }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.state.withLock { $0.append(notice.description) }
  }
}

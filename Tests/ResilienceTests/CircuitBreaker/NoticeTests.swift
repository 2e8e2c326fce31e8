import FoundationEssentials
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct NoticeTests {
  @Test(arguments: [1, 2])
  func `Reading the state of a breaker does not swallow a notice`(trips: Int) async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1))
    let notices = NoticeLog()
    var context = circuit.context
    context.operationNoticeObservers = [notices]
    let runner = OperationRunner(
      operation: circuit.script.operation().circuitBreaker(circuit.breaker),
      initialContext: context
    )
    var expected: [OperationNotice.Name] = []
    for trip in 1...trips {
      circuit.script.enqueue(.error(Refused()))
      await #expect(throws: Refused.self) { try await runner.run() }
      expected += trip == 1 ? [.circuitOpened] : [.circuitHalfOpened, .circuitOpened]
      circuit.clock.advance(by: .seconds(5 * trip))
      #expect(circuit.breaker.snapshot().state == .halfOpen && circuit.breaker.state == .halfOpen)
    }
    circuit.script.enqueue(.value(1), .value(2))
    try await runner.run()
    try await runner.run()
    expect(notices.names, equals: expected + [.circuitHalfOpened, .circuitClosed])
  }

  @Test func `A breaker that is reset after it was read as half-open sends no notice of that`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1))
    let notices = NoticeLog()
    var context = circuit.context
    context.operationNoticeObservers = [notices]
    let runner = OperationRunner(
      operation: circuit.script.operation().circuitBreaker(circuit.breaker),
      initialContext: context
    )
    circuit.script.enqueue(.error(Refused()), .error(Refused()))
    await #expect(throws: Refused.self) { try await runner.run() }
    circuit.clock.advance(by: .seconds(5))
    expect(circuit.breaker.snapshot().state, equals: .halfOpen)
    circuit.breaker.reset()
    await #expect(throws: Refused.self) { try await runner.run() }
    expect(notices.names, equals: [.circuitOpened, .circuitOpened])
  }

  @Test func `Observers are notified of trips, probes and rejections`() async throws {
    let circuit = Circuit(CircuitBreaker(name: "posts", minimumRuns: 1))
    let notices = NoticeLog()
    var context = circuit.context
    context.operationNoticeObservers = [notices]
    let runner = OperationRunner(
      operation: circuit.script.operation().circuitBreaker(circuit.breaker),
      initialContext: context
    )
    circuit.script.enqueue(.error(Refused()), .value(1))
    await #expect(throws: Refused.self) { try await runner.run() }
    await #expect(throws: CircuitOpen.self) { try await runner.run() }
    circuit.clock.advance(by: .seconds(5))
    try await runner.run()
    expect(
      notices.descriptions,
      equals: [
        "circuit.opened circuit.name=posts circuit.open_until=2001-01-01T00:00:05Z circuit.reason=failures",
        "circuit.rejected ScriptedOperation<Int, Error> circuit.name=posts circuit.retry_after=5 s",
        "circuit.half_opened circuit.name=posts",
        "circuit.closed circuit.name=posts",
      ]
    )
    expect(circuit.breaker.snapshot().description, equals: "posts: closed, 0 of 0 runs failed, 1 trips, 1 rejections")
  }
}

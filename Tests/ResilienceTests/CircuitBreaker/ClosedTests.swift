import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ClosedTests {
  @Test func `A run passes through a closed breaker`() async throws {
    let circuit = Circuit(CircuitBreaker())
    try await expect(circuit.run(.value(7)).get(), equals: 7)
    await expect(circuit.run(.error(Refused(code: 3))).failure as? Refused, equals: Refused(code: 3))
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `It does not open below the minimum of runs, and opens with the run that reaches it`() async {
    let circuit = Circuit(CircuitBreaker(failureRatio: 0.5, minimumRuns: 20))
    await circuit.fail(19)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
  }

  @Test func `It does not open below the ratio, and opens at exactly the ratio`() async {
    let circuit = Circuit(CircuitBreaker(failureRatio: 0.5, minimumRuns: 4))
    await circuit.succeed(10)
    await circuit.fail(9)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
  }

  @Test func `A success that reaches the minimum of runs opens it as a failure does`() async {
    let circuit = Circuit(CircuitBreaker(failureRatio: 0.5, minimumRuns: 4))
    await circuit.fail(2)
    await circuit.succeed(1)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.succeed(1)
    #expect(circuit.breaker.state.isOpen)
  }

  @Test(arguments: [(7, 0.07), (29, 0.29), (57, 0.57), (58, 0.58), (1, 0.01), (99, 0.99), (100, 1)])
  func `A ratio that has no exact binary form is exact`(failures: Int, ratio: Double) async {
    let circuit = Circuit(CircuitBreaker(failureRatio: ratio, minimumRuns: 100))
    await circuit.succeed(100 - failures)
    await circuit.fail(failures - 1)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
    let below = Circuit(CircuitBreaker(failureRatio: ratio, minimumRuns: 100))
    await below.succeed(101 - failures)
    await below.fail(failures - 1)
    expect(below.breaker.state, equals: .closed)
  }

  @Test func `Errors that do not count are answers of the service`() async {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 2) { ($0 as? Refused)?.code != 404 })
    for _ in 0..<10 { await circuit.run(.error(Refused(code: 404))) }
    expect(circuit.breaker.snapshot().runs, equals: 10)
    expect(circuit.breaker.snapshot().failures, equals: 0)
    await circuit.fail(9)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
  }

  @Test func `Old runs leave the window slice by slice`() async {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 10, window: .seconds(10)))
    for _ in 0..<10 {
      await circuit.succeed()
      circuit.clock.advance(by: .seconds(1))
    }
    // The first of ten slices has been dropped.
    await circuit.succeed()
    expect(circuit.breaker.snapshot().runs, equals: 10)
    circuit.clock.advance(by: .milliseconds(999))
    await circuit.succeed()
    expect(circuit.breaker.snapshot().runs, equals: 11)
    circuit.clock.advance(by: .milliseconds(1))
    await circuit.succeed()
    expect(circuit.breaker.snapshot().runs, equals: 11)
  }

  @Test func `A long pause empties the window`() async {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 2, window: .seconds(30)))
    await circuit.fail()
    circuit.clock.advance(by: .seconds(30))
    await circuit.fail()
    expect(circuit.breaker.state, equals: .closed)
    circuit.clock.advance(by: .seconds(1_000_000_000))
    await circuit.fail()
    expect(circuit.breaker.state, equals: .closed)
    expect(circuit.breaker.snapshot().runs, equals: 1)
  }

  @Test func `A cancelled run counts neither as a success nor as a failure`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1))
    let task = circuit.begin()
    _ = try await circuit.script.next()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(circuit.breaker.snapshot().runs, equals: 0)
    await circuit.run(.error(CancellationError()))
    expect(circuit.breaker.snapshot().runs, equals: 0)
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `An error that a cancelled task throws does not count`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 1)
    let script = OperationScript<Int, any Error>(endsOnCancellation: false)
    let operation = script.operation().circuitBreaker(breaker)
    let task = Task.immediate { try await operation.runWithoutSetup() }
    let run = try await script.next()
    task.cancel()
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await task.value }
    expect(breaker.state, equals: .closed)
    expect(breaker.snapshot().runs, equals: 0)
  }

  @Test func `Ten thousand runs at once are all counted`() async throws {
    let breaker = CircuitBreaker(failureRatio: 1, minimumRuns: 20_000)
    let operation = Work<Int, any Error> { _, _ in 1 }.circuitBreaker(breaker)
    try await withThrowingTaskGroup { group in
      for _ in 0..<10_000 { group.addTask { _ = try await operation.runWithoutSetup() } }
      try await group.waitForAll()
    }
    expect(breaker.snapshot().runs, equals: 10_000)
    expect(breaker.snapshot().failures, equals: 0)
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

import Foundation
import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ControlTests {
  private let circuit = Circuit(CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10))))

  @Test func `An isolated breaker rejects runs until it is reset`() async throws {
    self.circuit.breaker.isolate()
    expect(self.circuit.breaker.state, equals: .isolated)
    await self.circuit.expectRejection(nil)
    self.circuit.clock.advance(by: .seconds(1_000_000))
    await self.circuit.expectRejection(nil)
    self.circuit.breaker.reset()
    expect(self.circuit.breaker.state, equals: .closed)
    try await expect(self.circuit.run(.value(1)).get(), equals: 1)
  }

  @Test func `A reset closes an open breaker and forgets the results`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 3))
    await circuit.fail(2)
    circuit.breaker.reset()
    await circuit.fail(2)
    expect(circuit.breaker.state, equals: .closed)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
    circuit.breaker.reset()
    expect(circuit.breaker.state, equals: .closed)
    try await expect(circuit.run(.value(1)).get(), equals: 1)
  }

  @Test func `A run from before a reset or an isolation changes nothing after it`() async throws {
    for change in [{ $0.reset() }, { $0.isolate() }] as [@Sendable (CircuitBreaker) -> Void] {
      let circuit = Circuit(CircuitBreaker(minimumRuns: 1))
      let task = circuit.begin()
      let run = try await circuit.script.next()
      change(circuit.breaker)
      let state = circuit.breaker.state
      run.fail(Refused())
      _ = await task.result
      expect(circuit.breaker.state, equals: state)
      expect(circuit.breaker.snapshot().runs, equals: 0)
    }
  }

  @Test func `The states come in order, the current one first`() async throws {
    let (breaker, clock) = (self.circuit.breaker, self.circuit.clock)
    var states = breaker.states.makeAsyncIterator()
    await expect(states.next(), equals: .closed)
    let start = clock.now()
    await self.circuit.fail()
    clock.advance(by: .seconds(10))
    await self.circuit.fail()
    clock.advance(by: .seconds(10))
    await self.circuit.succeed()
    breaker.isolate()
    breaker.reset()
    for expected in [
      .open(until: start + 10), .halfOpen, .open(until: start + 20), .halfOpen, .closed, .isolated, .closed,
    ] as [CircuitBreaker.State] {
      await expect(states.next(), equals: expected)
    }
    var others = breaker.states.makeAsyncIterator()
    await expect(others.next(), equals: .closed)
  }

  @Test func `The states end when the breaker is released`() async throws {
    let lifetimes = LifetimeTracker()
    var breaker: CircuitBreaker? = CircuitBreaker { [token = lifetimes.token()] _ in
      token.touch()
      return true
    }
    let states = try #require(breaker?.states)
    let task = Task.immediate { await states.reduce(into: []) { $0.append($1) } }
    breaker?.isolate()
    breaker = nil
    try await expect(withTimeLimit("the states to end") { await task.value }, equals: [.closed, .isolated])
    try await lifetimes.noneAlive()
  }

  @Test func `A snapshot encodes the state and the counts`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 4))
    await circuit.succeed(2)
    await circuit.fail()
    let snapshot = circuit.breaker.snapshot()
    expect(snapshot.description, equals: "CircuitBreaker: closed, 1 of 3 runs failed, 0 trips, 0 rejections")
    await circuit.fail()
    await circuit.expectRejection(.seconds(5))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .secondsSince1970
    let data = try encoder.encode(circuit.breaker.snapshot())
    let until = Int(circuit.clock.now().timeIntervalSince1970) + 5
    expect(
      String(decoding: data, as: UTF8.self),
      equals: #"{"failureRatio":0.5,"failures":0,"minimumRuns":4,"name":"CircuitBreaker","#
        + #""openSince":\#(until - 5),"preventedTrips":0,"probes":0,"rejections":1,"runs":0,"slow":0,"#
        + #""state":{"name":"open","openUntil":\#(until)},"trips":1,"waiting":0}"#
    )
  }

  @Test func `Parallel failures, resets and readers leave a breaker that works`() async throws {
    let breaker = CircuitBreaker(failureRatio: 0.5, minimumRuns: 2, openFor: .noBackoff, probes: 2)
    let flaky = Work<Int, any Error> { _, _ in
      guard Bool.random() else { throw Refused() }
      return 1
    }
    let operation = flaky.circuitBreaker(breaker)
    let reader = Task { await breaker.states.reduce(into: 0) { count, _ in count += 1 } }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            _ = try? await operation.runWithoutSetup()
            if number % 100 == 0 { task % 2 == 0 ? breaker.reset() : breaker.isolate() }
            _ = breaker.snapshot()
          }
        }
      }
    }
    breaker.reset()
    expect(breaker.state, equals: .closed)
    reader.cancel()
    _ = await reader.value
    try await Work<Int, any Error> { _, _ in 1 }.circuitBreaker(breaker).runWithoutSetup()
    expect(breaker.snapshot().runs, equals: 1)
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(failureRatio: 0) }
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(failureRatio: 1.01) }
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(failureRatio: .nan) }
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(minimumRuns: 0) }
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(window: .zero) }
    await #expect(processExitsWith: .failure) { _ = CircuitBreaker(probes: 0) }
  }
}

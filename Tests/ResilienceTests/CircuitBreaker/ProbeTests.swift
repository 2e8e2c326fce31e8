import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ProbeTests {
  /// A breaker that is half-open, and rejects the runs beside its probes.
  private func halfOpen(probes: Int) async -> Circuit {
    let circuit = Circuit(
      CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10)), probes: probes, probeWait: .zero)
    )
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    return circuit
  }

  @Test(arguments: 1...3)
  func `A half-open breaker admits its probes and no other run`(probes: Int) async throws {
    let circuit = await self.halfOpen(probes: probes)
    let tasks = (0..<probes).map { _ in circuit.begin() }
    for _ in tasks { _ = try await circuit.script.next() }
    await circuit.expectRejection(nil)
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  @Test func `It closes when all probes have succeeded`() async throws {
    let circuit = await self.halfOpen(probes: 3)
    let tasks = (0..<3).map { _ in circuit.begin() }
    for index in 0..<3 {
      expect(circuit.breaker.state, equals: .halfOpen)
      try await circuit.script.next().succeed(index)
      _ = try await tasks[index].value
    }
    expect(circuit.breaker.state, equals: .closed)
    expect(circuit.breaker.snapshot().runs, equals: 0)
  }

  @Test func `A probe that has succeeded does not give its place to another`() async throws {
    let circuit = await self.halfOpen(probes: 2)
    let pending = circuit.begin()
    let run = try await circuit.script.next()
    await circuit.succeed()
    await circuit.expectRejection(nil)
    run.succeed(1)
    _ = try await pending.value
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `The first failed probe opens it, and the others change nothing`() async throws {
    let circuit = await self.halfOpen(probes: 3)
    let tasks = (0..<3).map { _ in circuit.begin() }
    let runs = [try await circuit.script.next(), try await circuit.script.next(), try await circuit.script.next()]
    runs[1].fail(Refused())
    _ = await tasks[1].result
    #expect(circuit.breaker.state.isOpen)
    runs[0].succeed(1)
    runs[2].fail(Refused())
    _ = (await tasks[0].result, await tasks[2].result)
    await circuit.expectRejection(.seconds(10))
    expect(circuit.breaker.snapshot().trips, equals: 2)
    circuit.clock.advance(by: .seconds(10))
    expect(circuit.breaker.state, equals: .halfOpen)
  }

  @Test func `A cancelled probe gives its place back`() async throws {
    let circuit = await self.halfOpen(probes: 1)
    for _ in 0..<5 {
      let task = circuit.begin()
      _ = try await circuit.script.next()
      await circuit.expectRejection(nil)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      expect(circuit.breaker.state, equals: .halfOpen)
    }
    await circuit.succeed()
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `A cancelled probe of an earlier opening gives back no place of a later one`() async throws {
    let circuit = await self.halfOpen(probes: 2)
    let early = circuit.begin()
    let run = try await circuit.script.next()
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    let probes = (0..<2).map { _ in circuit.begin() }
    for _ in probes { _ = try await circuit.script.next() }
    early.cancel()
    _ = await early.result
    #expect(run.isCancelled)
    await circuit.expectRejection(nil)
    for probe in probes { probe.cancel() }
    for probe in probes { _ = await probe.result }
  }

  @Test func `Of many runs that come at the same time only the probes are admitted`() async throws {
    let circuit = await self.halfOpen(probes: 3)
    let runner = circuit.runner
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 {
        group.addTask {
          do {
            _ = try await runner.run(isolation: nil)
            return true
          } catch is CircuitOpen {
            return false
          }
        }
      }
      var results: [Bool] = []
      for _ in 0..<197 { if let result = try await group.next() { results.append(result) } }
      #expect(results.allSatisfy { !$0 })
      // A probe that is admitted may begin later than the others are rejected.
      for _ in 0..<3 { try await circuit.script.next().succeed(1) }
      expect(circuit.script.runCount, equals: 4)
      for try await result in group { #expect(result) }
    }
    expect(circuit.breaker.state, equals: .closed)
  }
}

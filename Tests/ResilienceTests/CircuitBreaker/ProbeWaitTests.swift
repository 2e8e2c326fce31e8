import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Runs beside the probes of a half-open breaker.
@Suite(.bounded, .warningsAreIssues) struct ProbeWaitTests {
  private func halfOpen(probes: Int = 1, probeWait: Duration = .seconds(60)) async -> Circuit {
    let circuit = Circuit(
      CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10)), probes: probes, probeWait: probeWait)
    )
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    return circuit
  }

  @Test func `Of 50 callers that retry once all succeed when the service is back`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10))))
    await circuit.fail()
    let operation = circuit.script.operation().circuitBreaker(circuit.breaker).retry(limit: 1)
      .honoringRetryAfter(jitter: .none)
    let runner = OperationRunner(operation: operation, initialContext: circuit.context)
    let tasks = (0..<50).map { _ in Task.immediate { try await runner.run(isolation: nil) } }
    // All are rejected at first, and their only retry comes when the breaker is half-open.
    try await circuit.clock.sleepers(count: 50, .delay)
    circuit.clock.advance(by: .seconds(10))
    let probe = try await circuit.script.next()
    try await circuit.clock.sleepers(count: 49, .deadline)
    expect(circuit.script.runCount, equals: 2)
    expect(circuit.breaker.state, equals: .halfOpen)
    probe.succeed(0)
    for _ in 1..<50 { try await circuit.script.next().succeed(1) }
    for task in tasks { _ = try await task.value }
    expect(circuit.breaker.state, equals: .closed)
    expect(circuit.breaker.snapshot().rejections, equals: 50)
    expect(circuit.clock.sleeperCount(), equals: 0)
  }

  @Test func `After the breaker has closed, waiting runs begin by and by`() async throws {
    let circuit = await self.halfOpen()
    let probe = circuit.begin()
    let first = try await circuit.script.next()
    let others = (0..<20).map { _ in circuit.begin() }
    first.succeed(0)
    _ = try await probe.value
    expect(circuit.breaker.state, equals: .closed)
    // Their number doubles with each round in which all succeed. What fails or is cancelled makes room for one.
    var running = [try await circuit.script.next(), try await circuit.script.next()]
    #expect(circuit.script.runCount == 4 && circuit.breaker.snapshot().waiting == 18)
    for run in running { run.succeed(1) }
    running = []
    for _ in 0..<4 { running.append(try await circuit.script.next()) }
    #expect(circuit.script.runCount == 8 && circuit.breaker.snapshot().waiting == 14)
    others[2].cancel()
    _ = await others[2].result
    running.append(try await circuit.script.next())
    expect(circuit.breaker.snapshot().waiting, equals: 13)
    // A new run does not wait.
    let new = circuit.begin()
    try await circuit.script.next().succeed(9)
    try await expect(new.value, equals: 9)
    // Those that wait are admitted in order, and their bodies may begin in any.
    expect(running.count { $0.isCancelled }, equals: 1)
    for run in running where !run.isCancelled { run.succeed(2) }
    for _ in 0..<13 { try await circuit.script.next().succeed(3) }
    expect(circuit.breaker.snapshot().waiting, equals: 0)
    for other in others { _ = await other.result }
    expect(circuit.clock.sleeperCount(), equals: 0)
  }

  @Test func `A failure right after the breaker has closed rejects the runs that wait`() async throws {
    let circuit = await self.halfOpen()
    let probe = circuit.begin()
    let first = try await circuit.script.next()
    let others = (0..<5).map { _ in circuit.begin() }
    first.succeed(0)
    _ = try await probe.value
    let (second, third) = (try await circuit.script.next(), try await circuit.script.next())
    second.fail(Refused())
    third.fail(Refused())
    for other in others.dropFirst(2) {
      await #expect(throws: CircuitOpen(retryAfter: .seconds(10))) { try await other.value }
    }
    expect(circuit.script.runCount, equals: 4)
  }

  @Test func `A run whose turn does not come in a closed breaker begins at the end of its longest wait`() async throws {
    let circuit = await self.halfOpen(probeWait: .seconds(3))
    let probe = circuit.begin()
    let first = try await circuit.script.next()
    let others = (0..<3).map { _ in circuit.begin() }
    first.succeed(0)
    _ = try await probe.value
    let running = [try await circuit.script.next(), try await circuit.script.next()]
    expect(circuit.breaker.snapshot().waiting, equals: 1)
    circuit.clock.advance(by: .seconds(3))
    try await circuit.script.next().succeed(3)
    try await expect(others[2].value, equals: 3)
    for run in running { run.succeed(1) }
    for other in others { _ = try await other.value }
    expect(circuit.breaker.snapshot().rejections, equals: 0)
  }

  @Test func `When the probe fails, those beside it hear when the breaker admits a run`() async throws {
    let circuit = await self.halfOpen()
    let probe = circuit.begin()
    let run = try await circuit.script.next()
    let others = (0..<5).map { _ in circuit.begin() }
    circuit.clock.advance(by: .seconds(2))
    run.fail(Refused())
    await #expect(throws: Refused()) { try await probe.value }
    for other in others {
      await #expect(throws: CircuitOpen(retryAfter: .seconds(10))) { try await other.value }
    }
    expect(circuit.script.runCount, equals: 2)
    expect(circuit.breaker.snapshot().rejections, equals: 5)
    expect(circuit.clock.sleeperCount(), equals: 0)
  }

  @Test func `The place of a cancelled probe goes to the run that has waited longest`() async throws {
    let circuit = await self.halfOpen()
    let probe = circuit.begin()
    _ = try await circuit.script.next()
    let others = (0..<3).map { _ in circuit.begin() }
    others[0].cancel()
    await #expect(throws: CancellationError.self) { try await others[0].value }
    probe.cancel()
    _ = await probe.result
    let second = try await circuit.script.next()
    expect(circuit.script.runCount, equals: 3)
    expect(circuit.breaker.state, equals: .halfOpen)
    expect(circuit.clock.sleeperCount(), equals: 1)
    second.succeed(7)
    try await expect(others[1].value, equals: 7)
    try await circuit.script.next().succeed(8)
    try await expect(others[2].value, equals: 8)
  }

  @Test func `A cancelled probe whose body goes on gives its place back at once, and its end counts no more`()
    async throws
  {
    let circuit = await self.halfOpen()
    let (gate, began) = (Gate(), Gate())
    let stubborn = Work<Int, any Error> { _, _ in
      began.open()
      // A task of its own knows nothing of the cancellation.
      try await Task { try await gate.wait() }.value
      throw Refused()
    }
    let probe = Task { [context = circuit.context] in
      try await stubborn.circuitBreaker(circuit.breaker).runWithoutSetup(in: context)
    }
    try await began.wait()
    let other = circuit.begin()
    expect(circuit.breaker.snapshot().waiting, equals: 1)
    probe.cancel()
    let second = try await circuit.script.next()
    #expect(circuit.breaker.snapshot().probes == 1 && circuit.breaker.snapshot().waiting == 0)
    gate.open()
    await #expect(throws: Refused.self) { try await probe.value }
    #expect(circuit.breaker.state == .halfOpen && circuit.breaker.snapshot().probes == 1)
    second.succeed(2)
    try await expect(other.value, equals: 2)
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `A run waits for several probes until the last has succeeded`() async throws {
    let circuit = await self.halfOpen(probes: 2)
    let probes = (0..<2).map { _ in circuit.begin() }
    let runs = [try await circuit.script.next(), try await circuit.script.next()]
    let other = circuit.begin()
    runs[0].succeed(1)
    runs[1].succeed(2)
    for probe in probes { _ = try await probe.value }
    try await circuit.script.next().succeed(3)
    try await expect(other.value, equals: 3)
  }

  @Test func `A run waits no longer than the breaker and its deadline allow`() async throws {
    let circuit = await self.halfOpen(probeWait: .seconds(3))
    let probe = circuit.begin()
    let run = try await circuit.script.next()
    let patient = circuit.begin()
    var context = circuit.context
    context.operationDeadline = circuit.clock.instant + .seconds(1)
    let hurried = Task.immediate { [context] in
      try await circuit.script.operation().circuitBreaker(circuit.breaker).runWithoutSetup(in: context)
    }
    expect(circuit.clock.remainingTimes(.deadline), equals: [.seconds(1), .seconds(3)])
    circuit.clock.advance(by: .seconds(1))
    await #expect(throws: CircuitOpen(retryAfter: nil)) { try await hurried.value }
    circuit.clock.advance(by: .seconds(2))
    await #expect(throws: CircuitOpen(retryAfter: nil)) { try await patient.value }
    expect(circuit.breaker.state, equals: .halfOpen)
    run.succeed(1)
    try await expect(probe.value, equals: 1)
    expect(circuit.breaker.state, equals: .closed)
  }

  @Test func `Resetting admits those who wait, and isolating rejects them`() async throws {
    for isIsolated in [false, true] {
      let circuit = await self.halfOpen()
      let probe = circuit.begin()
      let run = try await circuit.script.next()
      let other = circuit.begin()
      if isIsolated {
        circuit.breaker.isolate()
        await #expect(throws: CircuitOpen(retryAfter: nil)) { try await other.value }
      } else {
        circuit.breaker.reset()
        try await circuit.script.next().succeed(2)
        try await expect(other.value, equals: 2)
      }
      run.succeed(1)
      try await expect(probe.value, equals: 1)
      expect(circuit.clock.sleeperCount(), equals: 0)
    }
  }

  @Test func `A run inside of a probe is rejected, because it would wait for itself`() async throws {
    let circuit = await self.halfOpen()
    let breaker = circuit.breaker
    let inner = circuit.script.operation().circuitBreaker(breaker)
    let outer = Work<Int, any Error> { context, _ in
      // A child task is part of the probe, too.
      async let value = inner.runWithoutSetup(in: context)
      do {
        return try await value
      } catch let error as CircuitOpen {
        return error.retryAfter == nil ? 5 : 6
      }
    }
    let task = Task.immediate { [context = circuit.context] in
      try await outer.circuitBreaker(breaker).runWithoutSetup(in: context)
    }
    try await expect(withTimeLimit("the probe") { try await task.value }, equals: 5)
    expect(breaker.state, equals: .closed)
  }

  @Test func `Beyond ten thousand waiting runs others are rejected at once, and all can leave`() async throws {
    let circuit = await self.halfOpen()
    var context = circuit.context
    context.operationDeadlines = SystemDeadlineSource()
    let breaker = CircuitBreaker(minimumRuns: 1, openFor: .constant(.nanoseconds(1)), probeWait: .seconds(600))
    let runner = OperationRunner(operation: circuit.script.operation().circuitBreaker(breaker), initialContext: context)
    circuit.script.enqueue(.error(Refused()))
    _ = try? await runner.run(isolation: nil)
    let tasks = (0...10_000).map { _ in Task.immediate { try await runner.run(isolation: nil) } }
    let probe = try await circuit.script.next()
    await #expect(throws: CircuitOpen(retryAfter: nil)) { try await runner.run(isolation: nil) }
    for task in tasks[1...] { task.cancel() }
    var cancelled = 0
    // Counted, because an expectation for each takes time that grows with the number of errors.
    for task in tasks[1...] {
      if case .failure(let error) = await task.result, error is CancellationError { cancelled += 1 }
    }
    expect(cancelled, equals: 10_000)
    probe.succeed(1)
    try await expect(tasks[0].value, equals: 1)
    expect(breaker.state, equals: .closed)
  }
}

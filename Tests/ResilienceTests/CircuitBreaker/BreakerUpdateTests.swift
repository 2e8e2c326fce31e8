import Foundation
import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Breakers whose settings change while they run, and the time in half open.
@Suite(.bounded, .warningsAreIssues) struct BreakerUpdateTests {
  @Test func `New ratios hold from the next result on, and the results stay`() async {
    let circuit = Circuit(CircuitBreaker(failureRatio: 1, minimumRuns: 100))
    await circuit.fail(4)
    #expect(circuit.breaker.update(failureRatio: 0.5, minimumRuns: 5))
    #expect(circuit.breaker.state == .closed && circuit.breaker.snapshot().failures == 4)
    await circuit.succeed()
    #expect(circuit.breaker.state.isOpen)
  }

  @Test func `Another window begins anew, and slow runs may be counted from now on`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 2))
    await circuit.fail()
    #expect(circuit.breaker.update(lastRuns: 10, slowAfter: .seconds(1)))
    expect(circuit.breaker.snapshot().runs, equals: 0)
    for _ in 0..<2 {
      let task = circuit.begin()
      let run = try await circuit.script.next()
      circuit.clock.advance(by: .seconds(2))
      run.succeed(1)
      _ = try await task.value
    }
    #expect(circuit.breaker.state.isOpen)
    circuit.breaker.reset()
    #expect(circuit.breaker.update(lastRuns: 0, slowAfter: .zero))
    await circuit.succeed(3)
    #expect(circuit.breaker.state == .closed && circuit.breaker.snapshot().slow == 0)
  }

  @Test func `An update that changes something is a notice with what was before`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [log]
    let breaker = CircuitBreaker(name: "posts", openFor: .constant(.seconds(5)))
    breaker.update(failureRatio: 0.3, slowAfter: .seconds(1), in: context)
    breaker.update(failureRatio: 0.3, slowAfter: .seconds(1), in: context)
    breaker.update(slowAfter: .zero, openFor: .constant(.seconds(9)), in: context)
    expectWarning(.invalidArgument) { breaker.update(failureRatio: 0, in: context) }
    breaker.update(probes: 2)
    let (earlier, later) = (
      OperationBackoffFunction.constant(.seconds(5)), OperationBackoffFunction.constant(.seconds(9))
    )
    let others = "circuit.probe_wait=10 s circuit.probes=1"
    let last = "circuit.slow_ratio=1.0 circuit.window=30 s"
    expect(
      log.descriptions,
      equals: [
        "circuit.settings_changed circuit.failure_ratio=0.3 circuit.failure_ratio.previous=0.5 circuit.minimum_runs=20"
          + " circuit.name=posts circuit.open_for=\(earlier) \(others) circuit.slow_after=1 s \(last)",
        "circuit.settings_changed circuit.failure_ratio=0.3 circuit.minimum_runs=20 circuit.name=posts"
          + " circuit.open_for=\(later) circuit.open_for.previous=\(earlier) \(others)"
          + " circuit.slow_after.previous=1 s \(last)",
      ]
    )
    #expect(breaker.snapshot().failureRatio == 0.3 && breaker.snapshot().gauges["circuit.failure_ratio"] == 0.3)
  }

  @Test func `An opening keeps its end, and the next one has the new length`() async {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10))))
    await circuit.fail()
    #expect(circuit.breaker.update(openFor: .constant(.seconds(30))))
    await circuit.expectRejection(.seconds(10))
    circuit.clock.advance(by: .seconds(10))
    await circuit.fail()
    await circuit.expectRejection(.seconds(30))
  }

  @Test func `More probes admit those that wait, and fewer may close the breaker`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10)), probeWait: .seconds(60)))
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    let tasks = (0..<3).map { _ in circuit.begin() }
    #expect(circuit.script.runCount == 2 && circuit.breaker.snapshot().probes == 1)
    #expect(circuit.breaker.update(probes: 2))
    #expect(circuit.breaker.snapshot().probes == 2 && circuit.breaker.snapshot().waiting == 1)
    try await circuit.script.next().succeed(1)
    try await expect(tasks[0].value, equals: 1)
    expect(circuit.breaker.state, equals: .halfOpen)
    #expect(circuit.breaker.update(probes: 1))
    expect(circuit.breaker.state, equals: .closed)
    // Both have waited, and their bodies may begin in any order.
    for _ in tasks.dropFirst() { try await circuit.script.next().succeed(1) }
    for task in tasks.dropFirst() { try await expect(task.value, equals: 1) }
    expect(circuit.clock.sleeperCount(), equals: 0)
  }

  // MARK: - The time in half open

  private func halfOpen() async -> Circuit {
    let breaker = CircuitBreaker(
      minimumRuns: 1,
      openFor: .constant(.seconds(10)),
      probeWait: .seconds(60),
      halfOpenFor: .seconds(5)
    )
    let circuit = Circuit(breaker)
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    return circuit
  }

  @Test func `A probe that never ends opens the breaker again after the time in half open`() async throws {
    let circuit = await self.halfOpen()
    expect(circuit.breaker.state, equals: .halfOpen)
    // The time begins with the first probe.
    circuit.clock.advance(by: .seconds(100))
    expect(circuit.breaker.state, equals: .halfOpen)
    let probe = circuit.begin()
    let run = try await circuit.script.next()
    let waiting = (0..<3).map { _ in circuit.begin() }
    circuit.clock.advance(by: .seconds(5))
    for task in waiting {
      await #expect(throws: CircuitOpen(retryAfter: .seconds(10))) { try await task.value }
    }
    expect(circuit.breaker.state, equals: .open(until: circuit.clock.now() + 10))
    expect(circuit.breaker.snapshot().trips, equals: 2)
    // The probe is late: it changes nothing.
    run.succeed(1)
    try await expect(probe.value, equals: 1)
    #expect(circuit.breaker.state.isOpen && circuit.clock.sleeperCount() == 0)
    circuit.clock.advance(by: .seconds(10))
    await circuit.succeed()
    #expect(circuit.breaker.state == .closed && circuit.breaker.snapshot().openSince == nil)
  }

  @Test func `A half-open time that is taken away cuts no wait beside a probe`() async throws {
    let circuit = await self.halfOpen()
    let probe = circuit.begin()
    let run = try await circuit.script.next()
    let other = circuit.begin()
    #expect(circuit.breaker.update(halfOpenFor: .zero))
    circuit.clock.advance(by: .seconds(59))
    #expect(circuit.breaker.state == .halfOpen && circuit.breaker.snapshot().waiting == 1)
    run.succeed(1)
    try await expect(probe.value, equals: 1)
    try await circuit.script.next().succeed(2)
    try await expect(other.value, equals: 2)
    expect(circuit.clock.sleeperCount(), equals: 0)
  }

  @Test func `The opening begins when the time is over, whoever finds it out later`() async throws {
    for finder in 0..<3 {
      let circuit = await self.halfOpen()
      let probe = circuit.begin()
      let run = try await circuit.script.next()
      circuit.clock.advance(by: .seconds(8))
      let until = circuit.clock.now() + 7
      switch finder {
      case 0: expect(circuit.breaker.state, equals: .open(until: until))
      case 1: await circuit.expectRejection(.seconds(7))
      default:
        run.succeed(1)
        _ = try await probe.value
        expect(circuit.breaker.state, equals: .open(until: until))
      }
      probe.cancel()
      _ = await probe.result
      circuit.clock.advance(by: .seconds(7))
      expect(circuit.breaker.state, equals: .halfOpen)
    }
  }

  @Test func `A notice says why a breaker has opened`() async throws {
    let log = NoticeLog()
    let breaker = CircuitBreaker(
      name: "posts",
      minimumRuns: 1,
      openFor: .constant(.seconds(10)),
      halfOpenFor: .seconds(5)
    )
    let circuit = Circuit(breaker)
    var context = circuit.context
    context.operationNoticeObservers = [log]
    let operation = circuit.script.operation().circuitBreaker(breaker)
    circuit.script.enqueue(.error(Refused()))
    _ = try? await operation.runWithoutSetup(in: context)
    circuit.clock.advance(by: .seconds(10))
    let probe = Task.immediate { [context] in try await operation.runWithoutSetup(in: context) }
    _ = try await circuit.script.next()
    circuit.clock.advance(by: .seconds(5))
    _ = try? await operation.runWithoutSetup(in: context)
    probe.cancel()
    _ = await probe.result
    let reasons = log.all.filter { $0.name == .circuitOpened }.map { $0.attributes["circuit.reason"] }
    expect(reasons, equals: [.string("failures"), .string("half_open_time")])
  }

  @Test func `Parallel updates, failures and probes leave a breaker that works`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 2, openFor: .noBackoff, halfOpenFor: .nanoseconds(1))
    let flaky = Work<Int, any Error> { _, _ in
      guard Bool.random() else { throw Refused() }
      return 1
    }
    let operation = flaky.circuitBreaker(breaker)
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<300 {
            _ = try? await operation.runWithoutSetup()
            if number % 10 == task {
              breaker.update(lastRuns: number % 7, slowAfter: .nanoseconds(number % 3), probes: 1 + number % 4)
            }
            _ = breaker.snapshot()
          }
        }
      }
    }
    breaker.reset()
    #expect(breaker.state == .closed && breaker.snapshot().waiting == 0)
    try await Work<Int, any Error> { _, _ in 1 }.circuitBreaker(breaker).runWithoutSetup()
    #expect(breaker.snapshot().runs <= 1)
  }
}

import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Slow runs, values that are failures, and a number of runs in place of a window.
@Suite(.bounded, .warningsAreIssues) struct SlowRunTests {
  /// Runs the operation, which takes a time.
  private func run(_ circuit: Circuit, taking duration: Duration, failing: Bool = false) async throws {
    let task = circuit.begin()
    let run = try await circuit.script.next()
    circuit.clock.advance(by: duration)
    if failing { run.fail(Refused()) } else { run.succeed(1) }
    _ = await task.result
  }

  @Test func `A breaker opens at its ratio of slow runs, though all have succeeded`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 4, slowAfter: .seconds(1), slowRatio: 0.5))
    for duration in [Duration.seconds(1), .zero] { try await self.run(circuit, taking: duration) }
    try await self.run(circuit, taking: .milliseconds(1001))
    // A run is slow if it takes longer, and not as long.
    #expect(circuit.breaker.snapshot().slow == 1 && circuit.breaker.state == .closed)
    try await self.run(circuit, taking: .seconds(2))
    #expect(circuit.breaker.state.isOpen)
    expect(circuit.breaker.snapshot().openSince, equals: circuit.clock.now())
  }

  @Test func `Slow failures count as both, and without the setting nothing is slow`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 10, slowAfter: .seconds(1)))
    try await self.run(circuit, taking: .seconds(2), failing: true)
    #expect(circuit.breaker.snapshot().slow == 1 && circuit.breaker.snapshot().failures == 1)
    let plain = Circuit(CircuitBreaker(minimumRuns: 1))
    try await self.run(plain, taking: .seconds(1_000_000))
    #expect(plain.breaker.snapshot().slow == 0 && plain.breaker.state == .closed)
  }

  @Test func `A slow probe opens the breaker again`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 1, slowAfter: .seconds(1), openFor: .constant(.seconds(10))))
    await circuit.fail()
    circuit.clock.advance(by: .seconds(10))
    try await self.run(circuit, taking: .seconds(2))
    #expect(circuit.breaker.state.isOpen && circuit.breaker.snapshot().trips == 2)
  }

  @Test func `A value may be a failure, which the caller receives`() async throws {
    let circuit = Circuit(CircuitBreaker(minimumRuns: 2, openFor: .constant(.seconds(10))))
    let operation = circuit.script.operation().circuitBreaker(circuit.breaker, failingOn: .where { $0 >= 500 })
    let runner = OperationRunner(operation: operation, initialContext: circuit.context)
    circuit.script.enqueue(.value(503), .value(200))
    try await expect(runner.run(isolation: nil), equals: 503)
    #expect(circuit.breaker.snapshot().failures == 1 && circuit.breaker.state == .closed)
    try await expect(runner.run(isolation: nil), equals: 200)
    // One of two has failed.
    #expect(circuit.breaker.state.isOpen)
    circuit.clock.advance(by: .seconds(10))
    circuit.script.enqueue(.value(500))
    try await expect(runner.run(isolation: nil), equals: 500)
    #expect(circuit.breaker.state.isOpen && circuit.breaker.snapshot().trips == 2)
  }

  @Test func `The last runs count, however long ago they were`() async {
    let circuit = Circuit(CircuitBreaker(failureRatio: 0.5, minimumRuns: 100, window: .seconds(1), lastRuns: 4))
    await circuit.fail()
    for _ in 0..<3 {
      circuit.clock.advance(by: .seconds(1000))
      await circuit.succeed()
    }
    #expect(circuit.breaker.snapshot().runs == 4 && circuit.breaker.snapshot().failures == 1)
    // The oldest is the failure, whose place this one takes.
    await circuit.fail()
    #expect(circuit.breaker.snapshot().runs == 4 && circuit.breaker.snapshot().failures == 1)
    await circuit.fail()
    #expect(circuit.breaker.state.isOpen)
  }

  @Test(arguments: 0..<20)
  func `The last runs are counted like an array counts them`(seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    let size = Int.random(in: 1...12, using: &generator)
    let breaker = CircuitBreaker(failureRatio: 0.9, minimumRuns: 1_000_000, lastRuns: size)
    let circuit = Circuit(breaker)
    var results: [Bool] = []
    for _ in 0..<100 {
      let fails = Int.random(in: 0..<3, using: &generator) == 0
      let next = Array((results + [fails]).suffix(size))
      let opens = next.count == size && Double(next.count { $0 }) / Double(size) >= 0.9
      if fails { await circuit.fail() } else { await circuit.succeed() }
      expect(breaker.state.isOpen, equals: opens)
      results = opens ? [] : next
      if opens { breaker.reset() }
      #expect(breaker.snapshot().runs == results.count && breaker.snapshot().failures == results.count { $0 })
    }
  }

  @Test func `Impossible settings are reported, and the defaults are used`() async {
    for ratio in [0, -1, 1.1, .nan, .infinity] {
      let breaker = expectWarning(.invalidArgument) { CircuitBreaker(slowAfter: .seconds(1), slowRatio: ratio) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(slowRatio: ratio)) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(failureRatio: ratio)) }
    }
    for count in [-1, 1_000_001, Int.max, Int.min] {
      let breaker = expectWarning(.invalidArgument) { CircuitBreaker(minimumRuns: 1, lastRuns: count) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(lastRuns: count)) }
      await Circuit(breaker).fail()
      #expect(breaker.state.isOpen)
    }
    for duration in [Duration.seconds(-1), .seconds(Int64.min)] {
      let breaker = expectWarning(.invalidArgument) { CircuitBreaker(minimumRuns: 100, slowAfter: duration) }
      _ = expectWarning(.invalidArgument) { CircuitBreaker(halfOpenFor: duration) }
      _ = expectWarning(.invalidArgument) { CircuitBreaker(probeWait: duration) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(slowAfter: duration)) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(halfOpenFor: duration)) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(probeWait: duration)) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(window: duration)) }
    }
    let breaker = CircuitBreaker(
      window: .seconds(Int64.max),
      lastRuns: 0,
      slowAfter: .seconds(Int64.max),
      slowRatio: .leastNonzeroMagnitude,
      probeWait: .seconds(Int64.max),
      halfOpenFor: .seconds(Int64.max)
    )
    expectWarning(.invalidArgument) { #expect(!breaker.update(window: .zero)) }
    for number in [0, -1, Int.min] {
      expectWarning(.invalidArgument) { #expect(!breaker.update(minimumRuns: number)) }
      expectWarning(.invalidArgument) { #expect(!breaker.update(probes: number)) }
    }
    await Circuit(breaker).succeed(30)
    #expect(breaker.state == .closed && breaker.snapshot().slow == 0 && breaker.snapshot().runs == 30)
    let longest = Duration(attoseconds: .max)
    #expect(breaker.update(minimumRuns: .max, window: longest, lastRuns: 1_000_000, slowAfter: longest))
    #expect(breaker.update(openFor: .constant(longest), probes: .max, probeWait: longest, halfOpenFor: longest))
    await Circuit(breaker).fail(30)
    #expect(breaker.state == .closed && breaker.snapshot().failures == 30)
  }
}

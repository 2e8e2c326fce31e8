import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A breaker for each key, and the share of them that may be open.
@Suite(.bounded, .warningsAreIssues) struct CircuitBreakersTests {
  private let clock = ManualClock()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func breakers(_ count: Int, maximumOpenRatio: Double) -> CircuitBreakers {
    let breakers = CircuitBreakers(name: "posts", maximumOpenRatio: maximumOpenRatio) { key in
      CircuitBreaker(name: key, minimumRuns: 1, openFor: .constant(.seconds(10)))
    }
    for number in 0..<count { _ = breakers.breaker(for: "\(number)", in: self.context) }
    return breakers
  }

  /// Runs an operation at an endpoint, which fails or not.
  private func run(_ breakers: CircuitBreakers, _ key: String, failing: Bool) async {
    let operation = Work<Int, any Error> { _, _ in
      if failing { throw Refused() }
      return 1
    }
    _ = try? await operation.circuitBreaker(breakers) { _, _ in key }.runWithoutSetup(in: self.context)
  }

  @Test func `Each key has a breaker of its own, which its runs share`() async {
    let breakers = self.breakers(0, maximumOpenRatio: 1)
    await self.run(breakers, "a", failing: true)
    await self.run(breakers, "b", failing: false)
    #expect(breakers.breaker(for: "a", in: self.context).state.isOpen)
    expect(breakers.breaker(for: "b", in: self.context).state, equals: .closed)
    #expect(breakers.breaker(for: "a", in: self.context) === breakers.breaker(for: "a", in: self.context))
    #expect(breakers.count == 2 && breakers.openCount == 1)
    expect(breakers.snapshot().description, equals: "posts: 1 of 2 open: a open")
    expect(breakers.snapshot().gauges, equals: ["circuits.open": 1, "circuits.count": 2])
  }

  @Test(arguments: [
    (10, 0.5, 5), (10, 0.1, 1), (10, 0.0, 1), (10, 1.0, 10), (3, 0.34, 1), (100, 0.29, 29), (1, 0.1, 1),
  ])
  func `At most a share of the breakers is open`(count: Int, share: Double, expected: Int) async {
    let breakers = self.breakers(count, maximumOpenRatio: share)
    for number in 0..<count { await self.run(breakers, "\(number)", failing: true) }
    expect(breakers.openCount, equals: expected)
    expect(breakers.snapshot().breakers.count { $0.breaker.state.isOpen }, equals: expected)
    expect(breakers.snapshot().breakers.count { $0.breaker.preventedTrips > 0 }, equals: count - expected)
  }

  @Test func `A breaker that was not allowed to open opens when there is a place`() async {
    let breakers = self.breakers(2, maximumOpenRatio: 0.5)
    await self.run(breakers, "0", failing: true)
    await self.run(breakers, "1", failing: true)
    let second = breakers.breaker(for: "1", in: self.context)
    #expect(second.state == .closed && second.snapshot().failures == 1)
    self.clock.advance(by: .seconds(10))
    // A half-open breaker keeps its place.
    await self.run(breakers, "1", failing: true)
    expect(second.state, equals: .closed)
    await self.run(breakers, "0", failing: false)
    expect(breakers.openCount, equals: 0)
    await self.run(breakers, "1", failing: true)
    #expect(second.state.isOpen && breakers.openCount == 1)
    breakers.breaker(for: "0", in: self.context).isolate()
    expect(breakers.openCount, equals: 2)
    breakers.breaker(for: "0", in: self.context).reset()
    second.reset()
    expect(breakers.openCount, equals: 0)
  }

  @Test func `Idle breakers give their places up, and then the one that was used least recently`() async {
    let breakers = CircuitBreakers(maximum: 3, idleAfter: .seconds(60)) { key in
      CircuitBreaker(name: key, minimumRuns: 1, openFor: .constant(.seconds(1000)))
    }
    await self.run(breakers, "open", failing: true)
    self.clock.advance(by: .seconds(1))
    await self.run(breakers, "old", failing: false)
    self.clock.advance(by: .seconds(1))
    await self.run(breakers, "new", failing: false)
    // None is idle for long enough. The open one stays, because it keeps load from a service.
    await self.run(breakers, "next", failing: false)
    expect(breakers.snapshot().breakers.map(\.key), equals: ["new", "next", "open"])
    self.clock.advance(by: .seconds(60))
    await self.run(breakers, "last", failing: false)
    expect(breakers.snapshot().breakers.map(\.key), equals: ["last", "open"])
    #expect(breakers.update(maximum: 1))
    await self.run(breakers, "only", failing: false)
    expect(breakers.snapshot().breakers.map(\.key), equals: ["only"])
    expect(breakers.openCount, equals: 0)
    breakers.forget("only")
    breakers.forget("only")
    expect(breakers.count, equals: 0)
  }

  @Test func `A run at a key, with a failure type of its own and values that are failures`() async throws {
    let breakers = self.breakers(0, maximumOpenRatio: 1)
    let operation = Work<Int, Refused> { _, _ in 503 }
      .circuitBreaker(breakers, failingOn: .where { $0 >= 500 }, by: { _, _ in "a" }, else: { _ in Refused(code: 1) })
    try await expect(operation.runWithoutSetup(in: self.context), equals: 503)
    await #expect(throws: Refused(code: 1)) { try await operation.runWithoutSetup(in: self.context) }
  }

  @Test func `Changed bounds are a notice`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [log]
    let breakers = CircuitBreakers(name: "posts")
    breakers.update(maximumOpenRatio: 0.25, in: context)
    breakers.update(maximum: 1000, maximumOpenRatio: 0.25, idleAfter: .seconds(600), in: context)
    expect(
      log.descriptions,
      equals: [
        "circuit.settings_changed circuit.name=posts circuits.idle_after=10 min circuits.maximum=1000"
          + " circuits.maximum_open=0.25 circuits.maximum_open.previous=0.5"
      ]
    )
  }

  @Test func `Impossible bounds are reported`() {
    for number in [0, -1, Int.min] {
      let breakers = expectWarning(.invalidArgument) { CircuitBreakers(maximum: number) }
      expectWarning(.invalidArgument) { #expect(!breakers.update(maximum: number)) }
    }
    for share in [-0.1, 1.1, .nan, .infinity] {
      let breakers = expectWarning(.invalidArgument) { CircuitBreakers(maximumOpenRatio: share) }
      expectWarning(.invalidArgument) { #expect(!breakers.update(maximumOpenRatio: share)) }
      expect(breakers.snapshot().maximumOpenRatio, equals: 0.5)
    }
    let breakers = expectWarning(.invalidArgument) { CircuitBreakers(idleAfter: .seconds(-1)) }
    expectWarning(.invalidArgument) { #expect(!breakers.update(idleAfter: .seconds(Int64.min))) }
    #expect(breakers.update(maximum: .max, maximumOpenRatio: 0, idleAfter: .seconds(Int64.max)))
  }

  @Test(arguments: 0..<4)
  func `Parallel runs at many endpoints lose no place`(seed: UInt64) async {
    let breakers = CircuitBreakers(maximum: 6, maximumOpenRatio: 0.5, idleAfter: .zero) { key in
      CircuitBreaker(name: key, minimumRuns: 2, openFor: .noBackoff)
    }
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(worker))
          for _ in 0..<200 {
            let key = "\(Int.random(in: 0..<10, using: &generator))"
            await self.run(breakers, key, failing: Bool.random(using: &generator))
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: breakers.breaker(for: key).isolate()
            case 1: breakers.breaker(for: key).reset()
            case 2: breakers.forget(key)
            default: break
            }
          }
        }
      }
    }
    for entry in breakers.snapshot().breakers { breakers.breaker(for: entry.key).reset() }
    #expect(breakers.openCount == 0 && breakers.count <= 6)
  }

  @Test func `Breakers are released with their group`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let breakers = CircuitBreakers(maximum: 1) { [token = lifetimes.token()] key in
        CircuitBreaker(name: key) { _ in
          token.touch()
          return true
        }
      }
      for number in 0..<3 { await self.run(breakers, "\(number)", failing: true) }
    }
    try await lifetimes.noneAlive()
  }
}

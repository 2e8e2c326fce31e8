import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationLimits
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Rejections by breakers and limits, as other breakers and limits see them.
@Suite(.bounded, .warningsAreIssues) struct RejectionTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>(default: .value(1))

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func isolated() -> CircuitBreaker {
    let breaker = CircuitBreaker()
    breaker.isolate()
    return breaker
  }

  @Test func `Ten rejections by a breaker do not drain the rate limit around it`() async throws {
    let breaker = self.isolated()
    let limit = RateLimit(10, per: .seconds(60))
    let operation = self.script.operation().circuitBreaker(breaker).limited(by: limit, maximumWait: .zero)
    for _ in 0..<10 {
      await #expect(throws: CircuitOpen.self) { try await operation.runWithoutSetup(in: self.context) }
    }
    breaker.reset()
    for _ in 0..<10 { try await expect(operation.runWithoutSetup(in: self.context), equals: 1) }
    await #expect(throws: OperationRejected.self) { try await operation.runWithoutSetup(in: self.context) }
    expect(self.script.runCount, equals: 10)
  }

  @Test func `Five rejections by a breaker do not trip the breaker around it`() async throws {
    let outer = CircuitBreaker(failureRatio: 0.1, minimumRuns: 1)
    let operation = self.script.operation().circuitBreaker(self.isolated()).circuitBreaker(outer)
    for _ in 0..<5 {
      await #expect(throws: CircuitOpen.self) { try await operation.runWithoutSetup(in: self.context) }
    }
    expect(outer.state, equals: .closed)
    expect(outer.snapshot().runs, equals: 0)
  }

  @Test func `Rejections by limits do not trip the breaker around them`() async throws {
    let outer = CircuitBreaker(failureRatio: 0.1, minimumRuns: 1)
    let full = ConcurrencyLimit(1, queue: 0)
    full.takePermit(in: self.context)
    let rate = RateLimit(1, per: .seconds(60))
    rate.takePermit(in: self.context)
    let adaptive = AdaptiveLimit(minimum: 1, maximum: 1, queue: 0)
    _ = adaptive.takePermit(in: self.context)
    let operation = self.script.operation()
    for _ in 0..<5 {
      await #expect(throws: OperationRejected.self) {
        try await operation.limited(by: full).circuitBreaker(outer).runWithoutSetup(in: self.context)
      }
      await #expect(throws: OperationRejected.self) {
        try await operation.limited(by: rate, maximumWait: .zero).circuitBreaker(outer).runWithoutSetup(
          in: self.context
        )
      }
      await #expect(throws: OperationRejected.self) {
        try await operation.limited(by: adaptive).circuitBreaker(outer).runWithoutSetup(in: self.context)
      }
    }
    expect(outer.state, equals: .closed)
    expect(outer.snapshot().runs, equals: 0)
    expect(self.script.runCount, equals: 0)
  }

  @Test func `Rejections do not shrink an adaptive limit, and return the permits of every limit`() async throws {
    let adaptive = AdaptiveLimit(minimum: 1, maximum: 50)
    let bulkhead = ConcurrencyLimit(3)
    let breaker = self.isolated()
    let operation = self.script.operation().circuitBreaker(breaker).limited(by: bulkhead).limited(by: adaptive)
    breaker.reset()
    // Grow it first.
    while adaptive.limit < 2 {
      let permits = (0..<adaptive.limit).map { _ in adaptive.takePermit(in: self.context) }
      self.clock.advance(by: .milliseconds(10))
      for case let permit? in permits { adaptive.returnPermit(permit, after: .succeeded, in: self.context) }
    }
    let limit = adaptive.limit
    breaker.isolate()
    for _ in 0..<50 {
      await #expect(throws: CircuitOpen.self) { try await operation.runWithoutSetup(in: self.context) }
    }
    expect(adaptive.limit, equals: limit)
    #expect(adaptive.activeCount == 0 && bulkhead.activeCount == 0)
  }

  @Test func `A rejection as a probe counts neither way, and gives the place on`() async throws {
    let inner = CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(60)))
    let outer = CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(10)))
    let operation = self.script.operation().circuitBreaker(inner).circuitBreaker(outer)
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await operation.runWithoutSetup(in: self.context) }
    self.clock.advance(by: .seconds(10))
    for _ in 0..<3 {
      await #expect(throws: CircuitOpen(retryAfter: .seconds(50))) {
        try await operation.runWithoutSetup(in: self.context)
      }
      expect(outer.state, equals: .halfOpen)
    }
    self.clock.advance(by: .seconds(50))
    try await expect(operation.runWithoutSetup(in: self.context), equals: 1)
    #expect(outer.state == .closed && inner.state == .closed)
  }

  @Test func `A run counts whose last attempt was rejected and an earlier one was not`() async throws {
    let inner = CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(60)))
    let outer = CircuitBreaker(minimumRuns: 1)
    let limit = RateLimit(1, per: .seconds(600))
    let operation = self.script.operation().circuitBreaker(inner).retry(limit: 1) { _, _ in true }
      .limited(by: limit, maximumWait: .zero).circuitBreaker(outer)
    self.script.enqueue(.error(Refused()))
    var context = self.context
    context.operationBackoffFunction = .noBackoff
    let runner = OperationRunner(operation: operation, initialContext: context)
    let error = await #expect(throws: CircuitOpen.self) { try await runner.run() }
    expect(error?.hasBegun, equals: true)
    #expect(outer.state.isOpen)
    outer.reset()
    await #expect(throws: OperationRejected.self) { try await runner.run() }
  }

  @Test func `An error of a type of its own says that it is a rejection`() async throws {
    enum Failure: LocalRejection, Equatable {
      case busy
      case broken

      var hasBegun: Bool { self == .broken }
    }
    let outer = CircuitBreaker(minimumRuns: 1)
    let script = OperationScript<Int, Failure>(default: .error(.broken))
    let operation = script.operation().circuitBreaker(self.isolated(), else: { _ in .busy })
      .circuitBreaker(outer, else: { _ in .busy })
    await #expect(throws: Failure.busy) { try await operation.runWithoutSetup(in: self.context) }
    expect(outer.state, equals: .closed)
    let broken = script.operation().circuitBreaker(outer, else: { _ in .busy })
    await #expect(throws: Failure.broken) { try await broken.runWithoutSetup(in: self.context) }
    #expect(outer.state.isOpen)
  }

  @Test func `Errors name the breaker or limit, the time and the last failure`() async throws {
    let breaker = CircuitBreaker(name: "posts", minimumRuns: 1, openFor: .constant(.seconds(3.9)))
    let operation = self.script.operation().circuitBreaker(breaker)
    self.script.enqueue(.error(Refused(code: 3)))
    _ = try? await operation.runWithoutSetup(in: self.context)
    self.clock.advance(by: .nanoseconds(12_345))
    let open = await #expect(throws: CircuitOpen.self) { try await operation.runWithoutSetup(in: self.context) }
    expect(open?.name, equals: "posts")
    expect((open?.lastFailure as? Refused), equals: Refused(code: 3))
    let failure = "\(Refused(code: 3))"
    expect(
      open?.description,
      equals: "The circuit breaker \"posts\" is open, and admits a run in 3.9 s; the last failure was: \(failure)."
    )
    expect(
      breaker.description,
      equals: "Circuit breaker posts: open until 2001-01-01 00:00:03 +0000, 0 of 0 runs failed, 1 trips, 1 rejections"
    )

    let rate = RateLimit(1, per: .seconds(60), name: "quota")
    let limited = self.script.operation().limited(by: rate, maximumWait: .zero)
    self.script.enqueue(.error(Refused(code: 4)))
    _ = try? await limited.runWithoutSetup(in: self.context)
    let rejected = await #expect(throws: OperationRejected.self) { try await limited.runWithoutSetup(in: self.context) }
    expect(rejected?.name, equals: "quota")
    expect((rejected?.lastFailure as? Refused), equals: Refused(code: 4))
    expect(
      rejected?.description,
      equals:
        "The limit \"quota\" rejected the run, and would admit it in 1 min; the last failure was: \(Refused(code: 4))."
    )
    expect(rate.description, equals: "Rate limit \"quota\": 1 runs per 1 min, 0 waiting")
    let bulkhead = ConcurrencyLimit(2, name: "disk")
    let adaptive = AdaptiveLimit(minimum: 1, maximum: 4, name: "search")
    bulkhead.takePermit(in: self.context)
    expect(bulkhead.description, equals: "Concurrency limit \"disk\": 1 of 2 runs under way, 0 waiting")
    expect(adaptive.description, equals: "Adaptive limit \"search\": 0 of 1 runs under way, 0 waiting")
    expect("\(CircuitOpen(retryAfter: nil))", equals: "The circuit breaker admits no run at the moment.")
    expect("\(OperationRejected(retryAfter: nil))", equals: "A limit rejected the run.")
  }

  @Test func `A breaker that is reset keeps no failure`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 1)
    weak let released: LifetimeToken?
    do {
      let token = LifetimeToken()
      released = token
      self.script.enqueue(.error(Holding(token: token)))
      _ = try? await self.script.operation().circuitBreaker(breaker).runWithoutSetup(in: self.context)
    }
    #expect(released != nil)
    breaker.reset()
    #expect(released == nil)
  }
}

private final class LifetimeToken: Sendable {}

private struct Holding: Error {
  let token: LifetimeToken
}

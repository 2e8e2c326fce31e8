import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct AdaptiveThrottleTests {
  /// A throttle on manual time, whose chance a test sets.
  private struct Bench {
    let clock = ManualClock()
    let chance: Box<Double>
    let throttle: AdaptiveThrottle

    init(multiplier: Double = 2, window: Duration = .seconds(120), chance: Double = 0) {
      let box = Box(chance)
      self.chance = box
      self.throttle = AdaptiveThrottle(
        multiplier: multiplier,
        window: window,
        random: { box.value },
        accepts: { ($0 as? Refused)?.code == 404 }
      )
    }

    var context: OperationContext {
      var context = OperationContext()
      context.use(self.clock)
      return context
    }

    /// Takes a permit. Returns nil if the run is rejected.
    func permit() async -> AdaptiveThrottle.Permit? {
      if let permit = self.throttle.takePermit(in: self.context) { return permit }
      return try? await self.throttle.waitForPermit(in: self.context, maximumWait: nil)
    }

    func run(_ use: OperationPermitUse, _ count: Int = 1) async {
      for _ in 0..<count {
        guard let permit = await self.permit() else { continue }
        self.throttle.returnPermit(permit, after: use, in: self.context)
      }
    }
  }

  @Test(arguments: [(100, 100, 2.0), (100, 50, 2), (100, 49, 2), (100, 0, 2), (10, 5, 1), (7, 3, 1.5), (0, 0, 2)])
  func `The probability is the one of the formula, and at most 99 %`(
    requests: Int,
    accepts: Int,
    multiplier: Double
  ) async {
    let bench = Bench(multiplier: multiplier, chance: 1)
    await bench.run(.succeeded, accepts)
    await bench.run(.failed(Refused()), requests - accepts)
    let snapshot = bench.throttle.snapshot()
    #expect((snapshot.requests, snapshot.accepts, snapshot.rejections) == (requests, accepts, 0))
    let formula = max(0, (Double(requests) - multiplier * Double(accepts)) / Double(requests + 1))
    let expected = min(formula, 0.99)
    expect(snapshot.rejectionProbability, equals: expected)
  }

  @Test func `Chance decides, and rejected runs count as wanted`() async throws {
    let bench = Bench(chance: 1)
    await bench.run(.failed(Refused()), 9)
    // 9 of 10 are rejected: 0.9.
    bench.chance.value = 0.89
    #expect(await bench.permit() == nil)
    expect(bench.throttle.snapshot().requests, equals: 10)
    bench.chance.value = 0.91
    #expect(await bench.permit() != nil)
    let operation = Work<Int, any Error> { _, _ in 1 }.limited(by: bench.throttle)
    bench.chance.value = 0
    await #expect(throws: OperationRejected(retryAfter: nil)) {
      try await operation.runWithoutSetup(in: bench.context)
    }
    bench.chance.value = .nan
    #expect(await bench.permit() != nil)
  }

  @Test func `Answers count as accepted, and runs that say nothing do not count`() async {
    let bench = Bench()
    await bench.run(.succeeded, 2)
    await bench.run(.failed(Refused(code: 404)))
    await bench.run(.cancelled)
    await bench.run(.unused)
    let snapshot = bench.throttle.snapshot()
    #expect((snapshot.requests, snapshot.accepts) == (3, 3))
  }

  @Test func `Counts leave the window, also those of a run that ends later`() async throws {
    let bench = Bench(window: .seconds(10), chance: 1)
    await bench.run(.failed(Refused()), 5)
    let late = try #require(await bench.permit())
    bench.clock.advance(by: .seconds(9))
    expect(bench.throttle.snapshot().requests, equals: 6)
    bench.clock.advance(by: .seconds(1))
    await bench.run(.succeeded)
    expect(bench.throttle.snapshot().requests, equals: 1)
    // The request has left the window, so nothing is left to forget.
    bench.throttle.returnPermit(late, after: .cancelled, in: bench.context)
    expect(bench.throttle.snapshot().requests, equals: 1)
    bench.clock.advance(by: .seconds(1_000_000_000))
    await bench.run(.succeeded)
    expect(bench.throttle.snapshot().requests, equals: 1)
  }

  @Test func `Other settings hold at once, and another window begins anew`() async throws {
    let bench = Bench(chance: 1)
    await bench.run(.failed(Refused()), 9)
    let late = try #require(await bench.permit())
    #expect(bench.throttle.update(multiplier: 1.5))
    expect(bench.throttle.snapshot().requests, equals: 10)
    #expect(bench.throttle.update(window: .seconds(60)))
    expect(bench.throttle.snapshot().requests, equals: 0)
    bench.throttle.returnPermit(late, after: .succeeded, in: bench.context)
    expect(bench.throttle.snapshot().accepts, equals: 0)
  }

  @Test func `A change is a notice, and the snapshot has the multiplier`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers = [log]
    let throttle = AdaptiveThrottle(window: .seconds(60), name: "posts")
    throttle.update(multiplier: 1.5, in: context)
    throttle.update(multiplier: 1.5, window: .seconds(60), in: context)
    throttle.update(window: .seconds(30), in: context)
    expectWarning(.invalidArgument) { throttle.update(multiplier: .nan, in: context) }
    expect(
      log.descriptions,
      equals: [
        "limit.changed limit.multiplier=1.5 limit.multiplier.previous=2.0 limit.name=posts limit.reason=update"
          + " limit.window=1 min",
        "limit.changed limit.multiplier=1.5 limit.name=posts limit.reason=update limit.window=30 s"
          + " limit.window.previous=1 min",
      ]
    )
    #expect(throttle.snapshot().multiplier == 1.5 && throttle.snapshot().gauges["throttle.multiplier"] == 1.5)
  }

  @Test func `Impossible settings are reported`() async {
    for multiplier in [0, -1, 0.99, .nan, .infinity, -.infinity] {
      let throttle = expectWarning(.invalidArgument) { AdaptiveThrottle(multiplier: multiplier) }
      expectWarning(.invalidArgument) { #expect(!throttle.update(multiplier: multiplier)) }
    }
    for window in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
      let throttle = expectWarning(.invalidArgument) { AdaptiveThrottle(window: window) }
      expectWarning(.invalidArgument) { #expect(!throttle.update(window: window)) }
    }
    for bench in [
      Bench(multiplier: .greatestFiniteMagnitude, window: .seconds(Int64.max)),
      Bench(window: Duration(attoseconds: 1)),
    ] {
      await bench.run(.succeeded, 3)
      bench.clock.advance(by: .seconds(1_000_000))
      await bench.run(.failed(Refused()), 3)
      #expect(bench.throttle.snapshot().rejectionProbability < 1)
    }
  }

  /// Every second row of the table in the article, or all: a client wants 1,000 runs a second of a service that accepts some of
  /// them.
  @Test(
    arguments: ModelRuns.part(
      of: [(100, 2, 170...230), (500, 2, 950...1000), (0, 2, 0...20), (100, 1.1, 95...135)]
        as [(Int, Double, ClosedRange<Int>)],
      every: 2
    )
  )
  func `An overloaded service receives little more than the multiplier times what it accepts`(
    capacity: Int,
    multiplier: Double,
    expected: ClosedRange<Int>
  ) async {
    let time = SimulatedTime()
    var context = OperationContext()
    context.operationDeadlines = time
    let generator = Mutex(SeededGenerator(seed: 1))
    let throttle = AdaptiveThrottle(
      multiplier: multiplier,
      random: { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    )
    var (sent, accepted) = (0, 0)
    for second in 0..<180 {
      var left = capacity
      for number in 0..<1000 {
        time.set(Double(second) + Double(number) / 1000)
        // The service serves as many in a tenth of a second as it can, and refuses the others.
        if number % 100 == 0 { left = capacity / 10 }
        var permit = throttle.takePermit(in: context)
        if permit == nil { permit = try? await throttle.waitForPermit(in: context, maximumWait: nil) }
        guard let permit else { continue }
        let isAccepted = left > 0
        left -= 1
        throttle.returnPermit(permit, after: isAccepted ? .succeeded : .failed(Refused()), in: context)
        if second >= 120 { (sent, accepted) = (sent + 1, accepted + (isAccepted ? 1 : 0)) }
      }
    }
    #expect(expected.contains(sent / 60), "\(sent / 60) runs a second, \(accepted / 60) of them accepted")
  }
}

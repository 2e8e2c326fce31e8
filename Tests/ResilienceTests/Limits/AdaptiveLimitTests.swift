import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct AdaptiveLimitTests {
  /// A limit on manual time, whose permits a test takes and returns directly.
  private struct Permits {
    let clock = ManualClock()
    let limit: AdaptiveLimit
    var context = OperationContext()

    init(_ limit: AdaptiveLimit) {
      self.limit = limit
      self.context.use(self.clock)
    }

    func take(_ count: Int) -> [AdaptiveLimit.Permit] {
      (0..<count).compactMap { _ in self.limit.takePermit(in: self.context) }
    }

    func giveBack(_ permits: [AdaptiveLimit.Permit], after use: OperationPermitUse = .succeeded) {
      for permit in permits { self.limit.returnPermit(permit, after: use, in: self.context) }
    }

    /// A generation of runs: as many at once as the limit admits, of which some fail.
    func round(failures: Int = 0, duration: (Int) -> Duration = { _ in .milliseconds(10) }) {
      var permits = self.take(self.limit.limit)
      self.clock.advance(by: duration(permits.count))
      self.giveBack(Array(permits.prefix(failures)), after: .failed(Refused()))
      permits.removeFirst(min(failures, permits.count))
      self.giveBack(permits)
    }

    /// Runs generations until the limit is `count`.
    func grow(to count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
      for _ in 0..<1000 where self.limit.limit < count { self.round() }
      expect(self.limit.limit, equals: count, sourceLocation: sourceLocation)
    }
  }

  @Test func `It doubles while runs do not take longer for it, up to the maximum`() {
    let permits = Permits(AdaptiveLimit(minimum: 2, maximum: 20))
    var limits: [Int] = []
    for _ in 0..<100 {
      if limits.last != permits.limit.limit { limits.append(permits.limit.limit) }
      permits.round()
    }
    expect(limits, equals: [2, 4, 8, 16, 20])
    expect(permits.limit.activeCount, equals: 0)
  }

  @Test func `It does not grow while permits are free`() {
    let permits = Permits(AdaptiveLimit(minimum: 2, maximum: 20))
    for _ in 0..<1000 {
      let permit = permits.take(1)
      permits.clock.advance(by: .milliseconds(10))
      permits.giveBack(permit)
    }
    expect(permits.limit.limit, equals: 2)
  }

  @Test func `It shrinks when runs take longer the more of them there are`() {
    let permits = Permits(AdaptiveLimit(minimum: 1, maximum: 64))
    permits.grow(to: 64)
    // The service has lost capacity: ten runs at once take 10 ms, and more of them wait for each other.
    for _ in 0..<400 {
      permits.round { .milliseconds(max(10, $0)) }
    }
    #expect((9...13).contains(permits.limit.limit), "\(permits.limit.limit)")
  }

  @Test func `Runs that all take longer are no overload`() {
    let permits = Permits(AdaptiveLimit(minimum: 1, maximum: 64))
    permits.grow(to: 64)
    for _ in 0..<100 { permits.round { _ in .milliseconds(70) } }
    expect(permits.limit.limit, equals: 64)
    for _ in 0..<100 { permits.round { _ in .milliseconds(1) } }
    expect(permits.limit.limit, equals: 64)
  }

  @Test func `The time that a run waits for its permit is no part of its duration`() async throws {
    let limiting = Limiting(AdaptiveLimit(minimum: 1, maximum: 1))
    for _ in 0..<40 {
      let tasks = (0..<2).map { _ in limiting.begin() }
      for _ in tasks {
        let run = try await limiting.script.next()
        limiting.clock.advance(by: .milliseconds(10))
        run.succeed(1)
      }
      for task in tasks { _ = try await task.value }
    }
    expect(limiting.limit.limit, equals: 1)
    expect(limiting.limit.description, equals: "Adaptive limit: 0 of 1 runs under way, 0 waiting")
  }

  @Test func `Failures that were under way together shrink it once, down to the minimum`() {
    let permits = Permits(AdaptiveLimit(minimum: 2, maximum: 8, decrease: 0.5))
    permits.grow(to: 8)
    permits.round(failures: 8)
    expect(permits.limit.limit, equals: 4)
    permits.round(failures: 4)
    expect(permits.limit.limit, equals: 2)
    permits.round(failures: 2)
    expect(permits.limit.limit, equals: 2)
    permits.grow(to: 8)
  }

  @Test func `A few failures of many are no overload, more than a tenth are`() {
    let permits = Permits(AdaptiveLimit(minimum: 2, maximum: 50))
    permits.grow(to: 50)
    for _ in 0..<50 { permits.round(failures: 2) }
    expect(permits.limit.limit, equals: 50)
    permits.round(failures: 50)
    expect(permits.limit.limit, equals: 37)
  }

  @Test func `Long runs that hold the permits do not keep others from beginning`() async throws {
    let limiting = Limiting(AdaptiveLimit(minimum: 1, maximum: 16))
    let limit = limiting.limit
    let context = limiting.context
    var permits = Permits(limit)
    permits.context = context
    for _ in 0..<1000 where limit.limit < 16 {
      let taken = permits.take(limit.limit)
      limiting.clock.advance(by: .milliseconds(10))
      permits.giveBack(taken)
    }
    // Runs such as long polls.
    var long: [AdaptiveLimit.Permit] = []
    for _ in 0..<10_000 {
      if long.count < 12 { long += permits.take(12 - long.count) }
      let taken = permits.take(4)
      limiting.clock.advance(by: .milliseconds(10))
      permits.giveBack(taken)
      // The limit measures at a reduced number, which the long runs exceed.
      if long.count == 12, taken.isEmpty { break }
    }
    #expect(limit.limit == 16 && limit.activeCount == 12)
    #expect(permits.take(1).isEmpty)
    let task = limiting.begin()
    expect(limit.waitingCount, equals: 1)
    try await limiting.clock.sleepers(count: 1, .deadline)
    limiting.clock.advance(by: .seconds(60))
    try await limiting.script.next().succeed(3)
    try await expect(task.value, equals: 3)
    expect(limiting.clock.sleeperCount(), equals: 0)
    permits.giveBack(long)
    expect(limit.activeCount, equals: 0)
  }

  @Test func `A cancelled run and an error that does not count change nothing`() async throws {
    let limiting = Limiting(AdaptiveLimit(minimum: 1, maximum: 5) { !($0 is Refused) })
    for _ in 0..<3 {
      let task = limiting.begin()
      _ = try await limiting.script.next()
      task.cancel()
      _ = await task.result
      let failing = limiting.begin()
      try await limiting.script.next().fail(Refused())
      _ = await failing.result
    }
    expect(limiting.limit.limit, equals: 1)
    expect(limiting.limit.activeCount, equals: 0)
  }

  @Test func `Runs wait for a limit that has shrunk, and begin when others have ended`() async throws {
    let limiting = Limiting(AdaptiveLimit(minimum: 2, maximum: 4, decrease: 0.5))
    var permits = Permits(limiting.limit)
    permits.context = limiting.context
    for _ in 0..<1000 where limiting.limit.limit < 4 {
      let taken = permits.take(limiting.limit.limit)
      limiting.clock.advance(by: .milliseconds(10))
      permits.giveBack(taken)
    }
    let tasks = (0..<6).map { _ in limiting.begin() }
    expect(limiting.limit.waitingCount, equals: 2)
    let first = try await limiting.script.next()
    first.fail(Refused())
    _ = await tasks[0].result
    expect(limiting.limit.limit, equals: 2)
    expect(limiting.limit.activeCount, equals: 3)
    expect(limiting.limit.waitingCount, equals: 2)
    for number in 1..<4 {
      try await limiting.script.next().succeed(number)
      _ = try await tasks[number].value
    }
    // The last two have waited, and their bodies may begin in any order.
    for _ in 4..<6 { try await limiting.script.next().succeed(0) }
    for task in tasks[4...] { _ = try await task.value }
    expect(limiting.limit.activeCount, equals: 0)
    expect(limiting.limit.waitingCount, equals: 0)
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 0, maximum: 1) }
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 2, maximum: 1) }
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 1, maximum: 2, decrease: 1) }
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 1, maximum: 2, decrease: .nan) }
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 1, maximum: 2, tolerance: 0.5) }
    await #expect(processExitsWith: .failure) { _ = AdaptiveLimit(minimum: 1, maximum: 2, queue: -1) }
  }
}

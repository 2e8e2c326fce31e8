import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct QuantileTests {
  @Test func `No run is hedged below the minimum of runs, except after a failure`() async throws {
    let hedging = Hedging(after: .quantile(0.95, minimumRuns: 3))
    for _ in 0..<2 { try await hedging.run(for: .milliseconds(10)) }
    let task = hedging.begin()
    expect(hedging.clock.sleeperCount(), equals: 0)
    try await hedging.script.next().fail(Refused())
    try await hedging.script.next().succeed(1)
    try await expect(task.value, equals: 1)
  }

  @Test func `The delay is the time within which the share of runs has ended`() async throws {
    let hedging = Hedging(after: .quantile(0.95, minimumRuns: 20))
    // Out of order: 7 and 20 have no common factor, so each number comes once.
    for number in 0..<20 { try await hedging.run(for: .milliseconds((number * 7) % 20 + 1)) }
    let task = hedging.begin()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(19)])
    try await hedging.script.next().succeed(1)
    _ = try await task.value
  }

  @Test(arguments: [(0.07, 7), (0.29, 29), (0.5, 50), (1, 100), (0.001, 1)])
  func `A share that has no exact binary form is exact`(quantile: Double, milliseconds: Int) async throws {
    let hedging = Hedging(after: .quantile(quantile, minimumRuns: 100))
    for number in 1...100 { try await hedging.run(for: .milliseconds(number)) }
    let task = hedging.begin()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(milliseconds)])
    task.cancel()
    _ = await task.result
  }

  @Test func `Only the last 500 runs count`() async throws {
    let hedging = Hedging(after: .quantile(1, minimumRuns: 500))
    for _ in 0..<500 { try await hedging.run(for: .milliseconds(10)) }
    for _ in 0..<500 { try await hedging.run(for: .milliseconds(9)) }
    let task = hedging.begin()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(9)])
    task.cancel()
    _ = await task.result
  }

  @Test func `A cancelled run counts with the time until its cancellation`() async throws {
    let hedging = Hedging(after: .quantile(1, minimumRuns: 1))
    try await hedging.run(for: .milliseconds(10))
    let task = hedging.begin()
    _ = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(10))
    let second = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(5))
    second.succeed(2)
    _ = try await task.value
    let next = hedging.begin()
    expect(hedging.clock.remainingTimes(), equals: [.milliseconds(15)])
    next.cancel()
    _ = await next.result
  }
}

import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

@Suite(.warningsAreIssues) struct AdaptiveLimitTests {
  private let limiting = Limiting(AdaptiveLimit(minimum: 2, maximum: 5, decrease: 0.5))

  /// Runs as many operations at once as the limit admits.
  private func round(
    duration: Duration = .milliseconds(10),
    outcome: Result<Int, any Error> = .success(1)
  ) async throws {
    let tasks = (0..<self.limiting.limit.limit).map { _ in self.limiting.begin() }
    var runs: [ScriptedRun<Int, any Error>] = []
    for _ in tasks { runs.append(try await self.limiting.script.next()) }
    self.limiting.clock.advance(by: duration)
    for run in runs { run.finish(with: outcome) }
    for task in tasks { _ = await task.result }
    #expect(self.limiting.limit.activeCount == 0)
  }

  @Test func `It grows by one a round, up to the maximum`() async throws {
    #expect(self.limiting.limit.limit == 2)
    for expected in [3, 4, 5, 5] {
      try await self.round()
      #expect(self.limiting.limit.limit == expected)
    }
  }

  @Test func `It does not grow while permits are free`() async throws {
    for _ in 0..<20 {
      let task = self.limiting.begin()
      try await self.limiting.script.next().succeed(1)
      _ = try await task.value
    }
    #expect(self.limiting.limit.limit == 2)
  }

  @Test func `Failures that were under way together shrink it once, down to the minimum`() async throws {
    for _ in 0..<3 { try await self.round() }
    #expect(self.limiting.limit.limit == 5)
    try await self.round(outcome: .failure(Refused()))
    #expect(self.limiting.limit.limit == 2)
    try await self.round(outcome: .failure(Refused()))
    #expect(self.limiting.limit.limit == 2)
    try await self.round()
    #expect(self.limiting.limit.limit == 3)
  }

  @Test func `A run that takes too long shrinks it`() async throws {
    for _ in 0..<3 { try await self.round() }
    try await self.round(duration: .milliseconds(20))
    #expect(self.limiting.limit.limit == 5)
    try await self.round(duration: .milliseconds(20) + .nanoseconds(1))
    #expect(self.limiting.limit.limit == 2)
  }

  @Test func `A millisecond is tolerated where runs take no time`() async throws {
    for _ in 0..<3 { try await self.round(duration: .zero) }
    try await self.round(duration: .milliseconds(1))
    #expect(self.limiting.limit.limit == 5)
    try await self.round(duration: .milliseconds(1) + .nanoseconds(1))
    #expect(self.limiting.limit.limit == 2)
  }

  @Test func `The shortest duration is forgotten after one to two thousand runs`() async throws {
    try await self.round(duration: .milliseconds(10))
    var rounds = 0
    // The service has become slower: at first that is a sign of overload, then it is usual.
    while self.limiting.limit.limit < 5, rounds < 2000 {
      try await self.round(duration: .milliseconds(50))
      rounds += 1
    }
    #expect(self.limiting.limit.limit == 5)
    #expect((400...1100).contains(rounds))
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
    #expect(limiting.limit.limit == 1)
    #expect(limiting.limit.activeCount == 0)
  }

  @Test func `Runs wait for a limit that has shrunk, and begin when it has grown`() async throws {
    for _ in 0..<3 { try await self.round() }
    let tasks = (0..<7).map { _ in self.limiting.begin() }
    #expect(self.limiting.limit.waitingCount == 2)
    let first = try await self.limiting.script.next()
    first.fail(Refused())
    _ = await tasks[0].result
    #expect(self.limiting.limit.limit == 2)
    #expect(self.limiting.limit.activeCount == 4)
    #expect(self.limiting.limit.waitingCount == 2)
    for number in 1..<5 {
      try await self.limiting.script.next().succeed(number)
      _ = try await tasks[number].value
    }
    // The last two have waited, and their bodies may begin in any order.
    for _ in 5..<7 { try await self.limiting.script.next().succeed(0) }
    for task in tasks[5...] { _ = try await task.value }
    #expect(self.limiting.limit.activeCount == 0)
    #expect(self.limiting.limit.waitingCount == 0)
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

import OperationCore
import OperationHedging
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// How hedges cut the late answers of a service, in virtual time: the table of the article.
///
/// An answer takes 1 to 10 ms, and one of fifty 100 ms to 2 s. 2,000 requests come one after the other.
@Suite(.bounded, .warningsAreIssues) struct TailLatencyTests {
  /// The durations of the runs, drawn by a seed.
  private final class Durations: Sendable {
    private let state = Mutex((generator: SeededGenerator(seed: 3), drawn: [Duration]()))

    var last: Duration { self.state.withLock { $0.drawn.last ?? .zero } }
    var count: Int { self.state.withLock { $0.drawn.count } }

    func draw() -> Duration {
      self.state.withLock { state in
        let isLate = Int.random(in: 0..<50, using: &state.generator) == 0
        let duration = Duration.microseconds(
          Int.random(in: isLate ? 100_000...2_000_000 : 1_000...10_000, using: &state.generator)
        )
        state.drawn.append(duration)
        return duration
      }
    }
  }

  /// The milliseconds that 2,000 requests take, sorted, and the number of runs for each of them.
  private func simulate(_ settings: HedgeSettings) async throws -> (milliseconds: [Int], load: Double) {
    let (clock, durations) = (ManualClock(), Durations())
    var context = OperationContext()
    context.use(clock)
    let operation = Work<Void, any Error> { context, _ in
      try await context.operationDeadlines.sleep(for: durations.draw())
    }
    let runner = OperationRunner(operation: operation.idempotent().hedged(using: settings), initialContext: context)
    var milliseconds: [Int] = []
    for _ in 0..<2_000 {
      let (start, delay) = (clock.elapsed, settings.maximum > 1 ? settings.snapshot(in: context).currentDelay : nil)
      let task = Task.immediate { try await runner.run() }
      let first = durations.last
      if let delay, delay < first {
        clock.advance(by: delay)
        // The two runs.
        try await clock.sleepers(count: 2)
        clock.advance(by: min(first - delay, durations.last))
      } else {
        clock.advance(by: first)
      }
      try await task.value
      milliseconds.append(Int((clock.elapsed - start) / .milliseconds(1)))
    }
    return (milliseconds.sorted(), Double(durations.count) / 2_000)
  }

  @Test(
    arguments: [
      (HedgeSettings(after: .fixed(.zero), maximum: 1), [5, 1031, 1859], 1.0),
      (HedgeSettings(after: .fixed(.milliseconds(10))), [5, 14, 19], 1.02),
      (HedgeSettings(after: .quantile(0.95)), [5, 14, 19], 1.05),
    ]
  )
  func `Late answers get rare, and the load hardly grows`(
    settings: HedgeSettings,
    milliseconds: [Int],
    load: Double
  ) async throws {
    let outcome = try await self.simulate(settings)
    expect([1_000, 1_980, 1_998].map { outcome.milliseconds[$0] }, equals: milliseconds)
    #expect(abs(outcome.load - load) < 0.005, "\(outcome.load)")
  }
}
